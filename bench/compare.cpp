// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cstdio>
#include <map>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "contest.hpp"
#include "lanewise/error.hpp"
#include "result_file.hpp"
#include "sizes.hpp"
#include "table.hpp"

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
};

// The floor under any ring, where it was an arm.
nlohmann::json describe_floor(const Contest& contest) {
  for (const Contender& contender : contest.contenders()) {
    const auto time = contender.time();
    if (contender.candidate.is_one_shot && time) {
      return {{"bytes", contest.bytes()}, {"us", time->median}};
    }
  }
  return nullptr;
}

// What all sizes together say.
struct Summary {
  std::map<std::string, std::vector<double>> ratios;
  std::vector<std::string> faults;  // wrong sums, in words
  std::vector<std::string> slower;
};

std::vector<ArmPlan> plan_arms(const Options& options, const Machine& machine) {
  std::vector<std::string> names = options.arms;
  if (names.empty()) {
    names = {"noop", "lanewise-no-profile"};
    // Ranks that somebody else has started cannot be had without the plugin as well.
    if (machine.kind != RankKind::joined) names.insert(names.begin(), "stock");
    if (!options.profile.empty()) names.emplace_back("lanewise");
  }
  std::vector<ArmPlan> plans;
  for (const std::string& name : names) {
    plans.push_back(plan_arm(name, machine, options.profile));
  }
  return plans;
}

void add_to(Summary& summary, const Contest& contest) {
  for (const Contender& contender : contest.contenders()) {
    const std::string where = contender.candidate.name + " at " + show_size(contest.bytes());
    if (!contender.verification.fault.empty()) {
      summary.faults.push_back(where + ": " + contender.verification.fault);
    }
    const auto ratio = contender.ratio();
    if (!ratio) continue;
    summary.ratios[contender.candidate.name].push_back(ratio->median);
    if (contender.verdict() == Verdict::worse) summary.slower.push_back(where);
  }
}

void show(const Summary& summary, const Field& field) {
  std::printf("geometric mean of the ratio to %s:", field.arms.front().plan.name.c_str());
  for (const auto& arm : field.arms) {
    const auto found = summary.ratios.find(arm.plan.name);
    if (found == summary.ratios.end()) continue;
    std::printf("  %s %.3f", arm.plan.name.c_str(), geometric_mean(found->second));
  }
  std::printf("\n");
  for (const std::string& fault : summary.faults) std::printf("WRONG: %s\n", fault.c_str());
  for (const std::string& slower : summary.slower) {
    std::printf("slower than stock: %s\n", slower.c_str());
  }
  std::fflush(stdout);
}

nlohmann::json describe(const Summary& summary) {
  nlohmann::json means = nlohmann::json::object();
  for (const auto& [name, ratios] : summary.ratios) means[name] = geometric_mean(ratios);
  return means;
}

// The run's deadline, shared among the sizes that are left.
Clock::time_point deadline_of_size(const TimingOptions& timing, Clock::time_point start,
                                   std::size_t done, std::size_t all) {
  if (timing.budget_s == 0) return Clock::time_point::max();
  const auto budget = std::chrono::duration<double>(timing.budget_s);
  const double share = static_cast<double>(done + 1) / static_cast<double>(all);
  return start + std::chrono::duration_cast<Clock::duration>(budget * share);
}

void compare(const Options& options) {
  const Machine machine = inspect_machine(options.ranks);
  check_writable(options.json);
  const auto sizes = choose_sizes(options.sizes);
  const auto plans = plan_arms(options, machine);
  nlohmann::json result = start_result(command_line(), machine);
  result["mode"] = name_of(options.timing.is_eager ? Mode::eager : Mode::graph);
  result["sizes"] = nlohmann::json::array();
  const Field field =
      start_arms(plans, machine, options.ranks, parse_data_type(options.sizes.type), sizes.back());
  std::printf("NCCL %s, %d ranks on %d GPUs, %s\n%s\n", to_string(machine.nccl).c_str(),
              machine.ranks, machine.gpus, options.timing.is_eager ? "eager" : "graph replay",
              show_heading(field.arms).c_str());
  Summary summary;
  const auto start = Clock::now();
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    Contest contest(sizes[index], options.timing, contenders_at(sizes[index], field));
    contest.prepare();
    contest.run(never_worse_limit, deadline_of_size(options.timing, start, index, sizes.size()));
    contest.finish();
    std::printf("%s\n", show_line(contest).c_str());
    std::fflush(stdout);
    result["sizes"].push_back(describe_size(contest));
    if (const auto floor = describe_floor(contest); !floor.is_null()) {
      result["links"]["one_shot"].push_back(floor);
    }
    add_to(summary, contest);
  }
  result["geometric_mean"] = describe(summary);
  if (!options.json.empty()) write_result(options.json, result);
  show(summary, field);
  if (!summary.faults.empty()) throw Exit{exit_wrong_result};
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
      ->add_option("--arm", options->arms,
                   "stock, noop, lanewise-no-profile, lanewise, one-shot, env:NAME=VALUE[,..], "
                   "conf:FILE or a choice as in ring/ll/2; may be repeated, the first is what all "
                   "are compared "
                   "with")
      ->allow_extra_args(false);
  command->add_option("--profile", options->profile, "For the arm lanewise");
  command->add_option("--check", options->check, "never-worse: exit status 4 where it is slower")
      ->check(CLI::IsMember({"never-worse"}));
  command->add_option("--json", options->json, "Write the result here");
  command->callback([options] { compare(*options); });
}

}  // namespace lanewise::bench
