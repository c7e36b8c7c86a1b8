// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <cstdio>
#include <memory>

#include "comparison/choice_survey.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "comparison/contest.hpp"
#include "host/files/text_file.hpp"
#include "report/result_file.hpp"
#include "comparison/sizes.hpp"
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

std::vector<Contender> contenders_of(Gang& gang, const std::vector<Choice>& choices) {
  // Stock in the same communicators: the plugin stands aside, which compare shows to be level.
  std::vector<Contender> contenders = {
      {&gang, {0, "stock", Arm::stock, {}, false}, {}, false, {}, {}}};
  for (const Choice& choice : choices) {
    contenders.push_back(
        {&gang, {0, to_string(choice), Arm::settings, choice, false}, {}, false, {}, {}});
  }
  return contenders;
}

std::string csv_lines(const Contest& contest) {
  std::string text;
  for (const Contender& contender : contest.contenders()) {
    const auto time = contender.time();
    const auto ratio = contender.ratio();
    const auto choice = contender.verification.choice_in_force();
    text += std::to_string(contest.bytes()) + "," + contender.candidate.name + "," +
            (choice ? std::string(name_of(choice->algorithm)) + "," +
                          std::string(name_of(choice->protocol)) + "," +
                          std::to_string(choice->channels)
                    : ",,");
    for (const auto& estimate : {time, ratio}) {
      text += estimate ? "," + std::to_string(estimate->median) + "," +
                             std::to_string(estimate->low) + "," + std::to_string(estimate->high)
                       : ",,,";
    }
    text += "," + std::to_string(contender.us.size()) + "," +
            std::to_string(contender.verification.wrong) + "\n";
  }
  return text;
}

void show_best(const Contest& contest) {
  const Contender* best = nullptr;
  for (const Contender& contender : contest.contenders()) {
    if (!contender.time() || contender.is_out) continue;
    if (best == nullptr || contender.time()->median < best->time()->median) best = &contender;
  }
  const auto stock = contest.contenders().front().time();
  if (best == nullptr || !stock) return;
  const auto ratio = best->ratio();
  std::printf("%10s  %8.2f  %8.2f  %6.3f [%5.3f %5.3f]  %s\n", show_size(contest.bytes()).c_str(),
              stock->median, best->time()->median, ratio->median, ratio->low, ratio->high,
              best->candidate.name.c_str());
  std::fflush(stdout);
}

void sweep(const Options& options) {
  const Machine machine = inspect_machine(options.ranks);
  check_writable(options.json);
  check_writable(options.csv);
  const auto sizes = choose_sizes(options.sizes);
  nlohmann::json result = start_result(command_line(), machine);
  result["mode"] = name_of(options.timing.is_eager ? Mode::eager : Mode::graph);
  result["sizes"] = nlohmann::json::array();
  const auto gang = open_gang(machine, options.ranks,
                              {"the sweep", environment_with_plugin(machine),
                               parse_data_type(options.sizes.type), sizes.back(), false});
  const ChoiceSurvey survey = survey_choices(*gang, machine, sizes.back());
  std::printf("NCCL %s, %d ranks on %d GPUs, %d channels, %zu priced entries\n%10s  %8s  %8s\n",
              to_string(machine.nccl).c_str(), machine.ranks, machine.gpus,
              survey.communicator.channels, survey.entries.size(), "bytes", "stock us", "best us");
  std::string csv =
      "bytes,arm,algorithm,protocol,channels,median_us,low_us,high_us,ratio,ratio_low,ratio_high,"
      "samples,wrong\n";
  bool has_wrong_sums = false;
  const auto start = Clock::now();
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    const auto choices = candidates_at(sizes[index], survey, Ll128Use::where_priced);
    Contest contest(sizes[index], options.timing, contenders_of(*gang, choices));
    contest.prepare();
    // A sweep wants each time alike, not a decision: the fewest rounds are all.
    contest.run(1.0, Clock::now());
    contest.finish();
    show_best(contest);
    csv += csv_lines(contest);
    result["sizes"].push_back(describe_size(contest));
    has_wrong_sums = has_wrong_sums || contest.has_wrong_sums();
    show_progress(index + 1, sizes.size(),
                  std::chrono::duration<double>(Clock::now() - start).count());
  }
  if (!options.csv.empty()) host::write_text_file(options.csv, csv);
  if (!options.json.empty()) write_result(options.json, result);
  if (has_wrong_sums) throw Exit{exit_wrong_result};
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
