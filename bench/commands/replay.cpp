// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include "command_line.hpp"
#include "commands.hpp"
#include "comparison/comparison.hpp"
#include "comparison/sizes.hpp"
#include "core/error.hpp"
#include "report/result_file.hpp"

namespace lanewise::bench {
namespace {

struct Options {
  RankOptions ranks;
  std::vector<std::string> arms;
  std::string profile;
  std::string trace;
  std::string type = "bf16";
  std::string json;
  int hidden = 7168;
  int tokens = 4;
  int calls = 122;  // two for each of 61 layers
  int rounds = 21;
  int instances = 3;
  double gap_us = 2;  // a norm over a few rows: the least that stands between two all-reduces
  double compute_us = 5000;
};

struct Step {
  std::size_t max_bytes = 0;
  int calls = 0;
  std::vector<std::size_t> trace;  // empty: all of max_bytes
};

Step read_step(const Options& options) {
  Step step{static_cast<std::size_t>(options.hidden) * static_cast<std::size_t>(options.tokens) *
                size_of(parse_data_type(options.type)),
            options.calls,
            {}};
  if (options.trace.empty()) return step;
  std::ifstream file(options.trace);
  if (!file) throw Error(options.trace, 0, "cannot be read");
  step.max_bytes = 0;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line.front() == '#') continue;
    step.trace.push_back(parse_size(line));
    step.max_bytes = std::max(step.max_bytes, step.trace.back());
  }
  if (step.trace.empty()) throw Error(options.trace, 0, "expected one payload a line");
  // The check looks at the last call's output, which must be whole.
  step.trace.push_back(step.max_bytes);
  step.calls = static_cast<int>(step.trace.size());
  return step;
}

// All arms' times of a call, graph or eager.
SizeComparison run(const Options& options, const Step& step, const ArmSet& arm_set, bool is_eager) {
  TimingOptions timing;
  timing.calls = step.calls;
  timing.launches = 1;
  timing.fewest_rounds = (options.rounds + options.instances - 1) / options.instances;
  timing.most_rounds = timing.fewest_rounds;
  timing.is_eager = is_eager;
  SizeComparison comparison(step.max_bytes, timing, arms_at(step.max_bytes, arm_set));
  comparison.set_step(options.gap_us, step.trace);
  comparison.prepare();
  comparison.run(1.0, std::chrono::steady_clock::now());
  comparison.finish();
  Failures failures;
  comparison.add_failures(failures);
  if (!failures.empty()) throw RankFailure(failures.begin()->second);
  return comparison;
}

// Over several communicators of each arm, as in compare.
void add_to(std::optional<SizeComparison>& all, SizeComparison one) {
  if (all) {
    all->absorb(one);
  } else {
    all.emplace(std::move(one));
  }
}

nlohmann::json describe(const Options& options, const Step& step, const SizeComparison& graph,
                        const SizeComparison& eager) {
  nlohmann::json steps = nlohmann::json::array();
  std::printf("%-24s  %10s  %6s  %10s  %6s  %12s\n", "arm", "graph us", "ratio", "eager us",
              "ratio", "tokens/s");
  for (std::size_t arm = 0; arm < graph.arms().size(); ++arm) {
    const ComparedArm& compared = graph.arms()[arm];
    const auto time = compared.time();
    const auto slow_time = eager.arms()[arm].time();
    if (!time || !slow_time) continue;
    const double us = time->median * step.calls;
    const double eager_us = slow_time->median * step.calls;
    const double tokens = options.tokens * 1e6 / (us + options.compute_us);
    std::printf("%-24s  %10.1f  %6.3f  %10.1f  %6.3f  %12.1f\n", compared.candidate.name.c_str(),
                us, compared.ratio()->median, eager_us, eager.arms()[arm].ratio()->median, tokens);
    steps.push_back({{"arm", compared.candidate.name},
                     {"graph_us", us},
                     {"graph_low_us", time->low * step.calls},
                     {"graph_high_us", time->high * step.calls},
                     {"eager_us", eager_us},
                     {"tokens_per_second", tokens}});
  }
  return steps;
}

void replay(const Options& options) {
  const Machine machine = inspect_machine(options.ranks);
  check_writable(options.json);
  const Step step = read_step(options);
  const auto plans =
      plan_arms(options.arms, {"stock", "lanewise-no-profile"}, machine, options.profile);
  nlohmann::json result = start_result(command_line(), machine);
  std::printf("NCCL %s, %d ranks on %d GPUs, %d calls of at most %s, %.0f us between\n",
              to_string(machine.nccl).c_str(), machine.ranks, machine.gpus, step.calls,
              show_size(step.max_bytes).c_str(), options.gap_us);
  std::optional<SizeComparison> graph;
  std::optional<SizeComparison> eager;
  for (int instance = 0; instance < options.instances; ++instance) {
    const ArmSet arm_set =
        start_arms(plans, machine, options.ranks, parse_data_type(options.type), step.max_bytes);
    add_to(graph, run(options, step, arm_set, false));
    add_to(eager, run(options, step, arm_set, true));
  }
  result["mode"] = name_of(CallMode::graph);
  result["step"] = describe(options, step, *graph, *eager);
  if (!options.json.empty()) write_result(options.json, result);
  std::fflush(stdout);
  if (graph->has_wrong_sums() || eager->has_wrong_sums()) throw Exit{exit_wrong_result};
}

}  // namespace

void add_replay(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("replay", "Time an engine's step: many calls in one graph");
  add_rank_options(*command, options->ranks);
  command->add_option("--calls", options->calls, "All-reduces in a step")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--hidden", options->hidden, "The model's hidden size")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--tokens", options->tokens, "Tokens in a step")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  command->add_option("--dtype", options->type, "bf16, fp16, fp32 or fp8")->capture_default_str();
  command->add_option("--trace", options->trace,
                      "A file with one payload a line, in place of these");
  command->add_option("--gap-us", options->gap_us, "Length of the kernel between two calls")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--compute-us", options->compute_us, "The rest of a step, for tokens/s")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Rounds")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command
      ->add_option("--instances", options->instances,
                   "Fresh communicators of each arm that the rounds are spread over")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--arm", options->arms, "As in compare; may be repeated")
      ->allow_extra_args(false);
  add_profile_option(*command, options->profile);
  command->add_option("--json", options->json, "Write the result here");
  command->callback([options] { replay(*options); });
}

}  // namespace lanewise::bench
