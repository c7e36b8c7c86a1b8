// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "commands.hpp"
#include "comparison/sizes.hpp"
#include "core/error.hpp"
#include "core/machine/graph_file.hpp"
#include "core/profile/environment_key.hpp"
#include "core/profile/environment_plan.hpp"
#include "environments/environment_sweep.hpp"
#include "host/engines/engine_variables.hpp"
#include "host/files/text_file.hpp"
#include "host/machine/topology_source.hpp"
#include "host/process/settings.hpp"
#include "host/profile/profile_file.hpp"
#include "report/machine_state.hpp"
#include "report/result_file.hpp"
#include "report/table.hpp"
#include "search/variables.hpp"

namespace lanewise::bench {
namespace {

// A machine that cannot tell stock from itself within 10 % cannot tell a gain of 3 % either.
constexpr double largest_noise = 0.10;
// Of the budget: stock's environment and the fastest one are swept, between them is the search.
constexpr double sweep_share = 0.3;
constexpr double screening_share = 0.4;

struct Options {
  RankOptions ranks;
  SizeOptions sizes;
  int budget_s = 60;
  int soak_calls = 0;
  std::string layers = "both";
  std::string engine;
  EnvironmentOptions environments;
  SizeOptions prefill{.bytes = {"16M", "64M"}};
  std::string output = "lanewise-profile.json";
  bool is_forced = false;
};

void show(const TuneOutcome& outcome, const RuleSet& rules) {
  for (const MeasuredSize& size : outcome.sizes) {
    const char* const keeps = rules.find(size.bytes) != nullptr ? ""
                              : rules.keeps_stock(size.bytes)
                                  ? "  (stock stays)"
                                  : "  (not certain: left to the wave model)";
    if (size.ratio.samples == 0 || !size.choice) {
      std::printf("%10s  not measured\n", show_size(size.bytes).c_str());
      continue;
    }
    std::printf("%10s  %8.2f  %8.2f  %6.3f [%5.3f %5.3f]  %s%s\n", show_size(size.bytes).c_str(),
                size.stock_us, size.us, size.ratio.median, size.ratio.low, size.ratio.high,
                to_string(*size.choice).c_str(), keeps);
  }
  for (const std::string& fault : outcome.faults) std::printf("WRONG: %s\n", fault.c_str());
  for (const UnsafeChoice& unsafe : outcome.unsafe)
    std::printf("UNSAFE: %s: %s\n", to_string(unsafe.choice).c_str(), unsafe.evidence.c_str());
}

void refuse_noise(const Options& options, const MachineState& state, double noise) {
  if (options.is_forced) return;
  if (!state.users.empty()) {
    throw Error("no profile is written: " + state.users.front() + " (--force writes it anyway)");
  }
  if (noise > largest_noise) {
    throw Error("no profile is written: stock differs from itself by " +
                std::to_string(static_cast<int>(noise * 100)) + " % (--force writes it anyway)");
  }
}

Profile start_profile(const Machine& machine, const MachineState& state) {
  Profile profile;
  profile.fingerprint = state.fingerprint.value_or("");
  profile.machine = std::to_string(machine.gpus) + "x " + machine.gpu_names.front();
  profile.driver = state.driver.value_or("");
  profile.nccl = machine.nccl;
  profile.created = now_utc();
  return profile;
}

// What hung in an earlier tune of these ranks, whose profile is about to be replaced.
std::vector<UnsafeChoice> find_known_unsafe(const std::string& path, const Profile& fresh,
                                            const Machine& machine) {
  std::vector<UnsafeChoice> known;
  if (!std::filesystem::is_regular_file(path) || std::filesystem::is_empty(path)) return known;
  const auto earlier = host::parse_profile(host::view_text_file(path), path);
  if (earlier.fingerprint != fresh.fingerprint || earlier.nccl != fresh.nccl) return known;
  const auto here =
      keyed_part(with_changes(host::read_process_environment(), environment_with_plugin(machine)));
  for (const auto& environment : earlier.environments)
    for (const GpuGroup& group : environment.groups)
      if (environment.variables == here && group.ranks == machine.ranks) known = group.unsafe;
  for (const UnsafeChoice& unsafe : known)
    std::printf("not tried, unsafe in %s: %s\n", path.c_str(), to_string(unsafe.choice).c_str());
  return known;
}

// A profile tells environments apart by the keyed variables alone.
void refuse_unkeyed(const Environment& variables) {
  const auto keyed = keyed_part(variables);
  for (const auto& [name, value] : variables) {
    if (keyed.contains(name)) continue;
    throw Error("--environment " + name + "=" + value +
                ": expected a variable that a profile can hold, as NCCL_MIN_NCHANNELS, "
                "NCCL_BUFFSIZE or NCCL_P2P_LEVEL (lanewise-bench environments takes any)");
  }
}

ScreenOptions plan_screening(const Options& options, const TuneRequest& request) {
  ScreenOptions screen;
  screen.ranks = options.ranks;
  screen.sizes = request.sizes;
  screen.type = parse_data_type(options.sizes.type);
  apply(options.environments, screen);
  for (const auto& variables : screen.given) refuse_unkeyed(variables);
  screen.budget_s = options.budget_s * screening_share;
  return screen;
}

void tune_base(const Options& options, const MachineState& state, Profile& profile,
               const SweptEnvironment& base) {
  const RuleSet& rules = base.tuned.groups.front().rules;
  show(base.outcome, rules);
  refuse_noise(options, state, base.outcome.noise);
  std::printf("%zu rules, geometric mean %.3f over stock, noise %.1f %%, %d rounds\n",
              rules.rules().size(), base.tuned.speedup, base.outcome.noise * 100,
              base.outcome.rounds);
  std::fflush(stdout);
  // Also a profile that only says where stock stays: the wave model is silent there.
  if (rules.is_empty() && base.tuned.groups.front().unsafe.empty()) return;
  profile.environments.push_back(base.tuned);
  profile.best_environment = 0;
}

// An NCCL_GRAPH_FILE beside the profile, to be tried where NCCL's own search is known to fail and
// the ranks are all GPUs; empty elsewhere.
std::string write_graph_beside(const std::string& profile, const Machine& machine) {
  const auto topology = host::read_topology();
  const auto ranks = static_cast<std::size_t>(machine.ranks);
  if (topology.gpus.size() != ranks || machine.gpus != machine.ranks) return "";
  const auto path = std::filesystem::absolute(profile).replace_extension(".graph.xml");
  try {
    host::write_text_file(path, format_graph_file(plan_ring_graph(topology)));
  } catch (const Error&) {
    return "";
  }
  return path.string();
}

bool is_used(const Profile& profile, const std::string& graph_file) {
  return std::any_of(profile.environments.begin(), profile.environments.end(),
                     [&](const auto& environment) {
                       const auto found = environment.variables.find("NCCL_GRAPH_FILE");
                       return found != environment.variables.end() && found->second == graph_file;
                     });
}

// The second layer; the graph file stays only where the profile needs it.
void tune_second_layer(const Options& options, const Machine& machine, ScreenOptions screen,
                       const TuneRequest& request, Profile& profile, SweptEnvironment& base) {
  screen.graph_file = write_graph_beside(options.output, machine);
  tune_environments(profile, machine, screen, request, base);
  if (screen.graph_file.empty() || is_used(profile, screen.graph_file)) return;
  std::error_code ignored;
  std::filesystem::remove(screen.graph_file, ignored);
}

// For the ranks, which inherit it; what the user has set stays, as in the engine itself.
void take_variables_of(const host::Engine& engine) {
  const auto variables = engine.defaults();
  std::printf("as %s %s starts a server: %s\n", engine.name.c_str(), engine.release.c_str(),
              variables.empty() ? "it sets nothing" : to_string(variables).c_str());
  std::fflush(stdout);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 0);
}

void tune(const Options& options) {
  if (!options.engine.empty()) take_variables_of(host::find_engine(options.engine));
  const Machine machine = inspect_machine(options.ranks);
  check_writable(options.output);
  host::require_guarded_folder(options.output);
  TuneRequest request;
  request.sizes = choose_sizes(options.sizes);
  // Ranks that somebody else has started cannot be had in another environment.
  const bool has_both = options.layers == "both" && machine.kind != RankKind::joined;
  SizeOptions prefill = options.prefill;
  prefill.type = options.sizes.type;
  if (has_both) request.prefill_sizes = choose_sizes(prefill);
  if (!has_both && !options.environments.given.empty())
    throw Error("--environment needs --layers both, and ranks that tune starts itself");
  request.budget_s = options.budget_s * (has_both ? sweep_share : 1.0);
  request.soak_calls = options.soak_calls;
  const auto screen = plan_screening(options, request);
  const MachineState state = read_machine_state();
  show_warnings(state.warnings);
  Profile profile = start_profile(machine, state);
  request.unsafe = find_known_unsafe(options.output, profile, machine);
  RankOptions ranks = with_short_timeout(options.ranks);
  if (!screen.inject_in.empty()) ranks.inject.clear();
  auto base = sweep_environment(machine, ranks, {}, screen.type, request);
  tune_base(options, state, profile, base);
  if (has_both && base.outcome.faults.empty())
    tune_second_layer(options, machine, screen, request, profile, base);
  if (profile.environments.empty()) {
    std::printf("nothing could be measured, no profile is written\n");
  } else {
    host::write_profile(options.output, profile);
    const auto& best = profile.environments[profile.best_environment.value_or(0)];
    if (best.groups.front().rules.rules().empty())
      std::printf("no gain measured: the profile keeps NCCL's own choice at these sizes\n");
    std::printf("best: %s, %s: %s\n", to_string(best.variables).c_str(),
                describe_measurement(best).c_str(), options.output.c_str());
  }
  std::fflush(stdout);
  if (!base.outcome.faults.empty()) throw Exit{exit_wrong_result};
}

}  // namespace

void add_tune(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("tune", "Find what beats stock here and write the plugin's profile");
  add_rank_options(*command, options->ranks);
  add_size_options(*command, options->sizes);
  command->add_option("--budget", options->budget_s, "Seconds to measure")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command
      ->add_option("--soak", options->soak_calls,
                   "Also try LL128, after so many checked calls of each at each size; 10000 is "
                   "what it takes to call it verified")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  command
      ->add_option("--layers", options->layers,
                   "both: also search the variables that a server starts with; choice: only what "
                   "NCCL does per call")
      ->check(CLI::IsMember({"both", "choice"}))
      ->capture_default_str();
  command->add_option("--engine", options->engine,
                      "sglang or vllm: measure under the NCCL variables that its servers set");
  add_environment_options(*command, options->environments);
  command
      ->add_option("--prefill", options->prefill.bytes,
                   "Larger sizes at which an environment must not be slower than stock either")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "The profile")->capture_default_str();
  command->add_flag("--force", options->is_forced, "Write it in spite of noise and other users");
  command->callback([options] { tune(*options); });
}

}  // namespace lanewise::bench
