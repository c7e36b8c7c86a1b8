// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "devices.hpp"
#include "host/profile_file.hpp"
#include "host/settings.hpp"
#include "host/topology_source.hpp"
#include "lanewise/environment_key.hpp"
#include "lanewise/error.hpp"
#include "lanewise/topology.hpp"
#include "machine_state.hpp"
#include "result_file.hpp"
#include "sizes.hpp"
#include "table.hpp"
#include "tuner.hpp"

namespace lanewise::bench {
namespace {

// A machine that cannot tell stock from itself within 10 % cannot tell a gain of 3 % either.
constexpr double largest_noise = 0.10;

struct Options {
  RankOptions ranks;
  SizeOptions sizes;
  int budget_s = 60;
  int soak_calls = 0;
  std::string output = "lanewise-profile.json";
  bool is_forced = false;
};

// As the plugin's ranks see it: this process's variables under the gang's.
Environment environment_of(const Gang& gang) {
  Environment all = host::read_process_environment();
  for (const auto& [name, value] : gang.plan().variables) all[name] = value;
  return keyed_part(all);
}

// Positions in the topology; empty where one GPU is not found there.
std::vector<int> positions_of_ranks(const Topology& topology, int ranks) {
  const auto devices = list_devices();
  std::vector<int> positions;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& device = devices[static_cast<std::size_t>(rank) % devices.size()];
    const auto address = parse_pci_address(device.pci);
    const auto position = address ? topology.find_gpu(*address) : std::nullopt;
    if (!position) return {};
    positions.push_back(static_cast<int>(*position));
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

double mean_speedup(const RuleSet& rules, const std::vector<MeasuredSize>& sizes) {
  std::vector<double> ratios;
  for (const MeasuredSize& size : sizes) {
    ratios.push_back(rules.find(size.bytes) != nullptr ? size.ratio.median : 1.0);
  }
  return geometric_mean(ratios);
}

void show(const TuneOutcome& outcome, const RuleSet& rules) {
  for (const MeasuredSize& size : outcome.sizes) {
    const char* const keeps = rules.find(size.bytes) != nullptr ? "" : "  (stock stays)";
    if (size.ratio.samples == 0 || !size.choice) {
      std::printf("%10s  not measured\n", show_size(size.bytes).c_str());
      continue;
    }
    std::printf("%10s  %8.2f  %8.2f  %6.3f [%5.3f %5.3f]  %s%s\n", show_size(size.bytes).c_str(),
                size.stock_us, size.us, size.ratio.median, size.ratio.low, size.ratio.high,
                to_string(*size.choice).c_str(), keeps);
  }
  for (const std::string& fault : outcome.faults) std::printf("WRONG: %s\n", fault.c_str());
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

Profile make_profile(const Machine& machine, const MachineState& state, TunedEnvironment tuned) {
  Profile profile;
  profile.fingerprint = state.fingerprint.value_or("");
  profile.machine = std::to_string(machine.gpus) + "x " + machine.gpu_names.front();
  profile.driver = state.driver.value_or("");
  profile.nccl = machine.nccl;
  profile.created = now_utc();
  profile.environments.push_back(std::move(tuned));
  profile.best_environment = 0;
  return profile;
}

void tune(const Options& options) {
  const Machine machine = inspect_machine(options.ranks);
  check_writable(options.output);
  TuneRequest request;
  request.sizes = choose_sizes(options.sizes);
  request.budget_s = options.budget_s;
  request.soak_calls = options.soak_calls;
  const MachineState state = read_machine_state();
  show_warnings(state.warnings);
  const auto gang = open_gang(machine, options.ranks,
                              {"tune", environment_with_plugin(machine),
                               parse_data_type(options.sizes.type), request.sizes.back(), false});
  const ChoiceSurvey survey = survey_choices(*gang, machine, request.sizes.back());
  std::printf("NCCL %s, %d ranks on %d GPUs, %d channels\n%10s  %8s  %8s  %6s\n",
              to_string(machine.nccl).c_str(), machine.ranks, machine.gpus,
              survey.communicator.channels, "bytes", "stock us", "best us", "ratio");
  const TuneOutcome outcome = tune_choices(*gang, survey, request);
  const RuleSet rules = build_rules(outcome.sizes);
  show(outcome, rules);
  refuse_noise(options, state, outcome.noise);
  const double speedup = mean_speedup(rules, outcome.sizes);
  if (rules.rules().empty()) {
    std::printf("no gain measured: stock is as good everywhere, no profile is written\n");
  } else {
    const GpuGroup group{machine.ranks, positions_of_ranks(host::read_topology(), machine.ranks),
                         false, rules};
    host::write_profile(options.output,
                        make_profile(machine, state, {environment_of(*gang), speedup, 0, {group}}));
    std::printf("%zu rules, geometric mean %.3f over stock, noise %.1f %%, %d rounds: %s\n",
                rules.rules().size(), speedup, outcome.noise * 100, outcome.rounds,
                options.output.c_str());
  }
  std::fflush(stdout);
  if (!outcome.faults.empty()) throw Exit{exit_wrong_result};
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
  command->add_option("-o,--output", options->output, "The profile")->capture_default_str();
  command->add_flag("--force", options->is_forced, "Write it in spite of noise and other users");
  command->callback([options] { tune(*options); });
}

}  // namespace lanewise::bench
