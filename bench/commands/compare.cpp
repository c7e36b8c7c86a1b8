// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "comparison/comparison.hpp"
#include "comparison/sizes.hpp"
#include "comparison/summary.hpp"
#include "core/error.hpp"
#include "report/result_file.hpp"
#include "report/table.hpp"

namespace lanewise::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  RankOptions ranks;
  SizeOptions sizes;
  TimingOptions timing;
  std::vector<std::string> arms;
  std::string profile;
  std::string check;
  std::string json;
  int instances = 3;
};

// The run's deadline, shared among the sizes that are left.
Clock::time_point deadline_of_size(const TimingOptions& timing, Clock::time_point start,
                                   std::size_t done, std::size_t all) {
  if (timing.budget_s == 0) return Clock::time_point::max();
  const auto budget = std::chrono::duration<double>(timing.budget_s);
  const double share = static_cast<double>(done + 1) / static_cast<double>(all);
  return start + std::chrono::duration_cast<Clock::duration>(budget * share);
}

// Two communicators of the same settings differ by some per cent for their whole life, as memory
// falls: so the rounds are spread over several, and each size's samples put together.
TimingOptions share_of_instance(TimingOptions timing, int instances) {
  const auto share = [instances](int rounds) { return (rounds + instances - 1) / instances; };
  timing.fewest_rounds = share(timing.fewest_rounds);
  timing.most_rounds = share(timing.most_rounds);
  return timing;
}

// What fails is left out from then on.
SizeComparison hold(std::size_t bytes, const TimingOptions& timing, const ArmSet& arm_set,
                    Clock::time_point deadline, Failures& failures) {
  SizeComparison comparison(bytes, timing, arms_at(bytes, arm_set));
  comparison.leave_out(failures);
  comparison.prepare();
  comparison.run(never_worse_limit, deadline);
  comparison.finish();
  comparison.add_failures(failures);
  return comparison;
}

bool is_all_reduce(const Options& options) {
  return options.ranks.collective == Collective::all_reduce;
}

void report(const SizeComparison& comparison, nlohmann::json& result, Summary& summary) {
  std::printf("%s\n", show_line(comparison).c_str());
  std::fflush(stdout);
  result["sizes"].push_back(describe_size(comparison));
  add_to(summary, comparison);
}

// The sizes in each of several fresh sets of ranks; `report` is called for each size at its end.
struct Course {
  const Options& options;
  const Machine& machine;
  std::vector<ArmPlan> plans;
  Failures failures;

  // Ranks that somebody else has started cannot be started afresh.
  [[nodiscard]] bool is_repeatable() const { return machine.kind != RankKind::joined; }

  template <class Begin, class Report>
  ArmSet run(const std::vector<std::size_t>& sizes, Begin begin, Report report) {
    const int instances = is_repeatable() ? options.instances : 1;
    const TimingOptions timing = share_of_instance(options.timing, instances);
    const std::size_t all = sizes.size() * static_cast<std::size_t>(instances);
    const auto start = Clock::now();
    std::vector<SizeComparison> comparisons;
    std::size_t done = 0;
    for (int instance = 0;; ++instance) {
      const bool is_last = instance + 1 == instances;
      ArmSet arm_set = start_arms(plans, machine, options.ranks,
                                  parse_data_type(options.sizes.type), sizes.back());
      if (is_last) begin(arm_set);
      for (std::size_t index = 0; index < sizes.size(); ++index, ++done) {
        SizeComparison comparison = hold(sizes[index], timing, arm_set,
                                         deadline_of_size(timing, start, done, all), failures);
        if (instance == 0) {
          comparisons.push_back(std::move(comparison));
        } else {
          comparisons[index].absorb(comparison);
        }
        if (is_last) report(comparisons[index]);
      }
      if (is_last) return arm_set;
    }
  }
};

// Of so many arms and sizes some look slower by the luck of their communicators: only what is
// slower in fresh ones too counts.
void look_again(Course& course, Summary& summary, nlohmann::json& result) {
  if (summary.slower.empty() || !course.is_repeatable()) return;
  std::printf("%zu looked slower than stock: again in fresh communicators\n",
              summary.slower.size());
  result["again"] = nlohmann::json::array();
  static_cast<void>(course.run(
      sizes_of(summary.slower), [](const ArmSet&) {},
      [&](const SizeComparison& comparison) {
        std::printf("%s\n", show_line(comparison).c_str());
        std::fflush(stdout);
        result["again"].push_back(describe_size(comparison));
        add_faults(summary, comparison);
        keep_confirmed(summary.slower, comparison);
      }));
}

Summary measure(Course& course, nlohmann::json& result) {
  Summary summary;
  const ArmSet arm_set = course.run(
      choose_sizes(course.options.sizes),
      [](const ArmSet& arms) { std::printf("%s\n", show_heading(arms.arms).c_str()); },
      [&](const SizeComparison& comparison) { report(comparison, result, summary); });
  show_means(summary, arm_set);
  result["geometric_mean"] = describe(summary);
  return summary;
}

// Each rank's part of an all-gather or a reduce-scatter is whole elements.
void check_collective(const Options& options, const Machine& machine) {
  if (is_all_reduce(options)) return;
  const std::string name(name_of(options.ranks.collective));
  const std::size_t step =
      static_cast<std::size_t>(machine.ranks) * size_of(parse_data_type(options.sizes.type));
  for (const std::size_t bytes : choose_sizes(options.sizes))
    if (bytes % step != 0)
      throw Error(std::to_string(bytes) + " bytes: expected a multiple of " + std::to_string(step) +
                  " for a " + name + " of " + std::to_string(machine.ranks) + " ranks");
  std::printf("%s: timed, results are not checked\n", name.c_str());
}

void compare(const Options& options) {
  const Machine machine = inspect_machine(options.ranks);
  check_collective(options, machine);
  check_writable(options.json);
  nlohmann::json result = start_result(command_line(), machine);
  result["mode"] = name_of(options.timing.is_eager ? CallMode::eager : CallMode::graph);
  result["sizes"] = nlohmann::json::array();
  std::printf("NCCL %s, %d ranks on %d GPUs, %s\n", to_string(machine.nccl).c_str(), machine.ranks,
              machine.gpus, options.timing.is_eager ? "eager" : "graph replay");
  Course course{
      options, machine,
      plan_arms(options.arms, {"stock", "noop", "lanewise-no-profile"}, machine, options.profile)};
  Summary summary = measure(course, result);
  // Now, as a rank may fail in the second look, and once more with what that showed.
  if (!options.json.empty()) write_result(options.json, result);
  look_again(course, summary, result);
  if (!options.json.empty() && result.contains("again")) write_result(options.json, result);
  show_findings(summary);
  if (!summary.faults.empty()) throw Exit{exit_wrong_result};
  const bool is_nothing_timed = summary.ratios.empty();
  if (!summary.failures.empty() || is_nothing_timed) throw Exit{exit_failure};
  if (options.check == "never-worse" && !summary.slower.empty()) throw Exit{exit_slower};
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare", "Time stock NCCL and Lanewise side by side, after checking their sums");
  add_rank_options(*command, options->ranks);
  add_size_options(*command, options->sizes);
  add_timing_options(*command, options->timing);
  command
      ->add_option(
          "--arm", options->arms,
          "stock, noop, lanewise-no-profile, lanewise, lanewise-env, noop-env, lanewise-direct, "
          "env:NAME=VALUE[,..], conf:FILE or a choice as in ring/ll/2; may be repeated, "
          "the first is what all are compared with")
      ->allow_extra_args(false);
  command
      ->add_option("--instances", options->instances,
                   "Fresh communicators of each arm that the rounds are spread over")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_profile_option(*command, options->profile);
  command->add_option("--check", options->check, "never-worse: exit status 4 where it is slower")
      ->check(CLI::IsMember({"never-worse"}));
  command
      ->add_option_function<std::string>(
          "--collective",
          [options](const std::string& word) {
            options->ranks.collective = parse_collective(word).value();
          },
          "all_reduce, all_gather, reduce_scatter, broadcast or reduce: only timed, but all_reduce")
      ->check(
          CLI::IsMember(std::vector<std::string>(collective_names.begin(), collective_names.end())))
      ->default_str("all_reduce");
  command->add_option("--json", options->json, "Write the result here");
  command->callback([options] { compare(*options); });
}

}  // namespace lanewise::bench
