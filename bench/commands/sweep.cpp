// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "comparison/choice_survey.hpp"
#include "comparison/comparison.hpp"
#include "comparison/sizes.hpp"
#include "comparison/summary.hpp"
#include "host/files/text_file.hpp"
#include "ranks/start_ranks.hpp"
#include "report/result_file.hpp"
#include "report/table.hpp"

namespace lanewise::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  RankOptions ranks;
  SizeOptions sizes;
  TimingOptions timing;
  std::string json;
  std::string csv;
};

std::vector<ComparedArm> arms_of(RankGroup& rank_group, const std::vector<Choice>& choices) {
  std::vector<ComparedArm> arms = {stock_arm(rank_group)};
  for (const Choice& choice : choices) arms.push_back(choice_arm(rank_group, choice));
  return arms;
}

std::string csv_lines(const SizeComparison& comparison) {
  std::string text;
  for (const ComparedArm& arm : comparison.arms()) {
    const auto time = arm.time();
    const auto ratio = arm.ratio();
    const auto choice = arm.verification.choice_in_force();
    text += std::to_string(comparison.bytes()) + "," + arm.candidate.name + "," +
            (choice ? std::string(name_of(choice->algorithm)) + "," +
                          std::string(name_of(choice->protocol)) + "," +
                          std::to_string(choice->channels)
                    : ",,");
    for (const auto& estimate : {time, ratio}) {
      text += estimate ? "," + std::to_string(estimate->median) + "," +
                             std::to_string(estimate->low) + "," + std::to_string(estimate->high)
                       : ",,,";
    }
    text +=
        "," + std::to_string(arm.us.size()) + "," + std::to_string(arm.verification.wrong) + "\n";
  }
  return text;
}

void show_best(const SizeComparison& comparison) {
  const ComparedArm* best = nullptr;
  for (const ComparedArm& arm : comparison.arms()) {
    if (!arm.time() || arm.is_out) continue;
    if (best == nullptr || arm.time()->median < best->time()->median) best = &arm;
  }
  const auto stock = comparison.arms().front().time();
  if (best == nullptr || !stock) {
    const auto& refusal = comparison.arms().front().verification.refusal;
    std::printf("%10s  not timed %s\n", show_size(comparison.bytes()).c_str(), refusal.c_str());
    return;
  }
  const auto ratio = best->ratio();
  std::printf("%10s  %8.2f  %8.2f  %6.3f [%5.3f %5.3f]  %s\n",
              show_size(comparison.bytes()).c_str(), stock->median, best->time()->median,
              ratio->median, ratio->low, ratio->high, show_candidate(*best).c_str());
  std::fflush(stdout);
}

void show_new_failures(const SizeComparison& comparison, Failures& failures) {
  Failures all = failures;
  comparison.add_failures(all);
  for (const auto& [name, evidence] : all)
    if (failures.emplace(name, evidence).second) show_failures({{name, evidence}});
}

void measure(SizeComparison& comparison, Failures& failures) {
  comparison.leave_out(failures);
  comparison.prepare();
  // A sweep wants each time alike, not a decision: the fewest rounds are all.
  comparison.run(1.0, Clock::now());
  comparison.finish();
  const ComparedArm& stock = comparison.arms().front();
  if (!stock.failure.empty()) throw RankFailure(stock.failure);
  show_new_failures(comparison, failures);
  show_best(comparison);
}

void sweep(const Options& options) {
  const Machine machine = inspect_machine(options.ranks);
  check_writable(options.json);
  check_writable(options.csv);
  const auto sizes = choose_sizes(options.sizes);
  nlohmann::json result = start_result(command_line(), machine);
  result["mode"] = name_of(options.timing.is_eager ? CallMode::eager : CallMode::graph);
  result["sizes"] = nlohmann::json::array();
  const auto rank_group = open_rank_group(machine, options.ranks,
                                          {"the sweep", environment_with_plugin(machine),
                                           parse_data_type(options.sizes.type), sizes.back()});
  const ChoiceSurvey survey = survey_choices(*rank_group, machine, sizes.back());
  std::printf("NCCL %s, %d ranks on %d GPUs, %d channels, %zu priced entries\n%10s  %8s  %8s\n",
              to_string(machine.nccl).c_str(), machine.ranks, machine.gpus,
              survey.communicator.channels, survey.entries.size(), "bytes", "stock us", "best us");
  std::string csv =
      "bytes,arm,algorithm,protocol,channels,median_us,low_us,high_us,ratio,ratio_low,ratio_high,"
      "samples,wrong\n";
  bool has_wrong_sums = false;
  Failures failures;
  const auto start = Clock::now();
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    const auto choices = candidates_at(sizes[index], survey, Ll128Use::where_priced);
    SizeComparison comparison(sizes[index], options.timing, arms_of(*rank_group, choices));
    measure(comparison, failures);
    csv += csv_lines(comparison);
    result["sizes"].push_back(describe_size(comparison));
    has_wrong_sums = has_wrong_sums || comparison.has_wrong_sums();
    show_progress(index + 1, sizes.size(),
                  std::chrono::duration<double>(Clock::now() - start).count());
  }
  if (!options.csv.empty()) host::write_text_file(options.csv, csv);
  if (!options.json.empty()) write_result(options.json, result);
  if (has_wrong_sums) throw Exit{exit_wrong_result};
  if (!failures.empty()) throw Exit{exit_failure};
}

}  // namespace

void add_sweep(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("sweep", "Time every algorithm, protocol and channel count NCCL prices");
  add_rank_options(*command, options->ranks);
  add_size_options(*command, options->sizes);
  add_timing_options(*command, options->timing);
  command->add_option("--json", options->json, "Write the result here");
  command->add_option("--csv", options->csv, "Write one line for each time here");
  command->callback([options] { sweep(*options); });
}

}  // namespace lanewise::bench
