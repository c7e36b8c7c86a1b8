// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "comparison/comparison.hpp"
#include "comparison/floor.hpp"
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
  bool is_without_one_shot = false;
};

// The floor under any ring where it is an arm, by the user's wish.
void add_arm_to_floor(const SizeComparison& comparison, Floor& floor) {
  for (const ComparedArm& arm : comparison.arms()) {
    const auto time = arm.time();
    if (arm.candidate.is_one_shot && time) floor.us.emplace(comparison.bytes(), time->median);
  }
}

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

// Beside arms that the user has named there is no column of its own.
bool has_floor_column(const Options& options) {
  return options.arms.empty() && !options.is_without_one_shot && is_all_reduce(options);
}

void show_heading(const Options& options, const ArmSet& arm_set) {
  const std::string floor = has_floor_column(options) ? show_floor_heading() : "";
  std::printf("%s%s\n", show_heading(arm_set.arms).c_str(), floor.c_str());
}

struct Findings {
  Summary summary;
  Floor floor;
};

Floor find_floor(const Options& options, const Machine& machine,
                 const std::vector<std::size_t>& sizes) {
  if (!has_floor_column(options)) return {};
  Floor floor = measure_floor(sizes, machine, options.ranks, parse_data_type(options.sizes.type),
                              options.timing);
  for (const std::string& remark : floor.remarks) std::printf("%s\n", remark.c_str());
  return floor;
}

void report(const Options& options, const SizeComparison& comparison, nlohmann::json& result,
            Findings& findings) {
  add_arm_to_floor(comparison, findings.floor);
  std::string line = show_line(comparison);
  if (has_floor_column(options)) line += show_floor(findings.floor, comparison);
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  result["sizes"].push_back(describe_size(comparison));
  add_to(findings.summary, comparison);
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

Findings measure(Course& course, nlohmann::json& result) {
  const Options& options = course.options;
  const auto sizes = choose_sizes(options.sizes);
  Findings findings;
  findings.floor = find_floor(options, course.machine, sizes);
  const ArmSet arm_set = course.run(
      sizes, [&](const ArmSet& arms) { show_heading(options, arms); },
      [&](const SizeComparison& comparison) { report(options, comparison, result, findings); });
  show_means(findings.summary, arm_set);
  result["geometric_mean"] = describe(findings.summary);
  if (auto links = describe(findings.floor); !links.is_null()) result["links"] = std::move(links);
  return findings;
}

// Each rank's part of an all-gather or a reduce-scatter is whole elements.
void check_collective(const Options& options, const Machine& machine) {
  if (is_all_reduce(options)) return;
  const std::string name(name_of(options.ranks.collective));
  if (std::find(options.arms.begin(), options.arms.end(), "one-shot") != options.arms.end())
    throw Error("the arm one-shot is an all-reduce, not a " + name);
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
  Summary summary = measure(course, result).summary;
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
          "one-shot, env:NAME=VALUE[,..], conf:FILE or a choice as in ring/ll/2; may be repeated, "
          "the first is what all are compared with")
      ->allow_extra_args(false);
  command
      ->add_option("--instances", options->instances,
                   "Fresh communicators of each arm that the rounds are spread over")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_flag("--no-one-shot", options->is_without_one_shot,
                    "Leave out the column one-shot: an all-reduce of our own as the floor under "
                    "any ring, measured first and alone; also left out with --arm");
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
