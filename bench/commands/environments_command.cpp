// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command_line.hpp"
#include "commands.hpp"
#include "comparison/sizes.hpp"
#include "core/profile/environment_plan.hpp"
#include "environments/environment_sweep.hpp"
#include "report/result_file.hpp"

namespace lanewise::bench {
namespace {

struct Options {
  ScreenOptions screen;
  SizeOptions sizes;
  EnvironmentOptions environments;
  std::string json;
};

nlohmann::json describe(const Screening& screening) {
  nlohmann::json json = {{"variables", screening.variables}};
  if (screening.fault.empty()) {
    json["speedup"] = screening.speedup;
    json["memory_bytes"] = screening.memory_bytes;
  } else {
    json["fault"] = screening.fault;
  }
  return json;
}

void search(Options& options) {
  const Machine machine = inspect_machine(options.screen.ranks);
  check_writable(options.json);
  options.screen.sizes = choose_sizes(options.sizes);
  options.screen.type = parse_data_type(options.sizes.type);
  apply(options.environments, options.screen);
  std::printf("NCCL %s, %d ranks on %d GPUs: gain over stock, memory of a rank beyond stock's\n",
              to_string(machine.nccl).c_str(), machine.ranks, machine.gpus);
  const auto outcome = screen_environments(machine, options.screen, show_screening);
  nlohmann::json result = start_result(command_line(), machine);
  result["is_complete"] = outcome.is_complete;
  result["environments"] = nlohmann::json::array();
  for (const auto& screening : outcome.screenings)
    result["environments"].push_back(describe(screening));
  if (!options.json.empty()) write_result(options.json, result);
  if (outcome.worthwhile.empty()) throw Exit{exit_failure};
  std::printf("%s%s: %s\n", outcome.is_complete ? "" : "the budget ended the search; ", "fastest",
              to_string(outcome.worthwhile.front().variables).c_str());
}

}  // namespace

void add_environments(CLI::App& app) {
  auto options = std::make_shared<Options>();
  // Enough to see a step of 3 %, and not more: each environment is swept in full later.
  options->screen.timing.fewest_rounds = 8;
  options->screen.timing.most_rounds = 8;
  CLI::App* command = app.add_subcommand(
      "environments", "Screen the variables that a server may start with, in fresh ranks each");
  add_rank_options(*command, options->screen.ranks);
  add_size_options(*command, options->sizes);
  command->add_option("--budget", options->screen.budget_s, "Seconds until no more is started")
      ->check(CLI::Range(1.0, 86'400.0))
      ->capture_default_str();
  add_environment_options(*command, options->environments);
  command->add_option("--graph", options->screen.graph_file, "An NCCL_GRAPH_FILE to try too")
      ->check(CLI::ExistingFile)
      ->excludes("--environment");
  command->add_option("--json", options->json, "Write the result here");
  command->callback([options] { search(*options); });
}

}  // namespace lanewise::bench
