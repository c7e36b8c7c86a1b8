// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "host/files/text_file.hpp"
#include "host/machine/topology_source.hpp"
#include "links/gpu_tester.hpp"
#include "links/isolated_tester.hpp"
#include "links/survey.hpp"
#include "report/result_file.hpp"

namespace lanewise::bench {
namespace {

struct Options {
  std::string json;
  std::string pairs = "all";
  std::string method = "both";
  double timeout_s = 10;
};

std::string now_as_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::string text(sizeof("2026-01-01T00:00:00Z"), '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

std::string result_file(const LinkReport& report) {
  const nlohmann::json file = {{"schema_version", 1},
                               {"command", "lanewise-bench links"},
                               {"created", now_as_text()},
                               {"environment",
                                {{"nccl", nullptr},
                                 {"driver", nullptr},
                                 {"gpus", report.machine.names},
                                 {"ranks", nullptr},
                                 {"nodes", 1},
                                 {"fingerprint", nullptr},
                                 {"variables", nlohmann::json::object()},
                                 {"clocks_mhz", nlohmann::json::array()},
                                 {"warnings", nlohmann::json::array()}}},
                               {"links", nlohmann::json::parse(to_json(report))}};
  return file.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<Method> methods_of(const std::string& word) {
  if (word == "peer") return {Method::peer};
  if (word == "host") return {Method::host};
  return {Method::peer, Method::host};
}

void show_progress(const Probe& probe) {
  if (isatty(STDERR_FILENO) == 0) return;
  const std::string text = to_string(probe).substr(0, 70);
  std::fprintf(stderr, "\r%-72s\r", text.c_str());
}

// A guest's tree need not be the real one, and without one nothing is known of uplinks.
std::vector<Scenario> scenarios_for(const Topology& topology, const LinkMachine& machine) {
  const auto uplinks = uplinks_of(topology, machine.pci);
  const bool is_known =
      !topology.is_guest && std::all_of(uplinks.begin(), uplinks.end(),
                                        [](const auto& uplink) { return uplink.has_value(); });
  return is_known ? shared_uplink_scenarios(uplinks) : pairwise_scenarios(machine.size());
}

void run(const Options& options) {
  check_writable(options.json);
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(options.timeout_s));
  IsolationLimits limits;
  limits.probe = timeout;
  // A kernel gives up before its process is killed, so that it can say what was missing.
  const GpuTesterOptions tester_options{timeout / 4};
  IsolatedTester tester([&] { return make_gpu_tester(tester_options); }, limits);

  const LinkMachine machine = tester.describe();
  SurveyPlan plan;
  plan.flows = parse_pairs(options.pairs, machine.size());
  plan.methods = methods_of(options.method);
  plan.on_probe = show_progress;
  const Topology topology = host::read_topology();
  if (options.pairs == "all") plan.scenarios = scenarios_for(topology, machine);
  LinkReport report = survey(tester, machine, plan);
  add_paths(report, topology);

  std::fputs(to_text(report).c_str(), stdout);
  if (!options.json.empty()) host::write_text_file(options.json, result_file(report));
  if (report.has_errors()) throw Exit{exit_wrong_result};
}

}  // namespace

void add_links(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "links",
      "Measure latency and bandwidth of each GPU pair, checked at the destination; exit status 3 "
      "where a pair hangs or lies");
  command->add_option("--json", options->json, "Write the result to this file");
  command->add_option("--pairs", options->pairs, "all, or pairs such as 0-1,2-3")
      ->capture_default_str();
  command->add_option("--method", options->method, "peer access, host memory, or both")
      ->check(CLI::IsMember({"peer", "host", "both"}))
      ->capture_default_str();
  command->add_option("--timeout", options->timeout_s, "Seconds until a pair counts as hung")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  command->callback([options] { run(*options); });
}

}  // namespace lanewise::bench
