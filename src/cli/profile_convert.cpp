// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "profile_convert.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/nccl/known_releases.hpp"
#include "host/files/text_file.hpp"
#include "host/profile/profile_file.hpp"
#include "host/profile/tuner_csv.hpp"
#include "machine.hpp"

namespace lanewise::cli {
namespace {

struct ConvertOptions {
  std::string input;
  std::string output;                      // empty: standard output
  std::vector<int> ranks;                  // of a CSV
  std::string nccl;                        // of a CSV
  std::optional<std::size_t> environment;  // of a profile
};

bool is_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && text[first] == '{';
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

void write(const ConvertOptions& options, const std::string& text) {
  if (options.output.empty())
    std::fputs(text.c_str(), stdout);
  else
    host::write_text_file(options.output, text);
}

// One comment for what the rows cannot say.
void convert_profile(const ConvertOptions& options, const Profile& profile) {
  const std::size_t index = options.environment.value_or(profile.best_environment.value_or(0));
  if (index >= profile.environments.size())
    throw Error(options.input, 0,
                "expected an environment below " + std::to_string(profile.environments.size()));
  const auto& environment = profile.environments[index];
  std::string text = "# Measured on " + profile.fingerprint + " with NCCL " +
                     to_string(profile.nccl) + ", " + profile.created + '\n';
  for (const auto& [name, value] : environment.variables)
    text.append("# Start processes with ").append(name).append("=").append(value).append("\n");
  write(options, text + host::format_tuner_csv(rows_of(environment)));
}

Profile describe_here(const std::string& nccl) {
  const auto release = parse_nccl_release(nccl);
  if (!release) throw Error("--nccl: expected the release the rows are for, as 2.30.7");
  if (const auto fault = describe_unknown_release(*release))
    throw Error("--nccl " + nccl + ": " + *fault);
  const auto topology = read_machine({});
  Profile profile;
  profile.fingerprint = fingerprint(topology);
  profile.machine = std::to_string(topology.gpus.size()) + " GPUs, rules converted, not measured";
  profile.nccl = *release;
  profile.created = now();
  return profile;
}

void refuse_ll128(const std::string& file, const std::vector<TunerRow>& rows) {
  for (const auto& row : rows)
    if (row.collective == Collective::all_reduce && row.choice.protocol == Protocol::ll128)
      throw Error(file, row.line,
                  "expected no LL128: a profile has it only where `lanewise-bench tune` proved it");
}

void convert_rows(const ConvertOptions& options, const std::vector<TunerRow>& rows) {
  if (options.ranks.empty()) throw Error("--ranks: expected the ranks that the rows are for");
  refuse_ll128(options.input, rows);
  Profile profile = describe_here(options.nccl);
  profile.environments.emplace_back();
  for (const int ranks : options.ranks) {
    const auto found = rules_of(rows, ranks);
    for (const int line : found.ignored_lines)
      std::fprintf(stderr, "lanewise: %s:%d: not taken for %d ranks on one node\n",
                   options.input.c_str(), line, ranks);
    profile.environments[0].groups.push_back({.ranks = ranks, .rules = found.rules});
  }
  const auto text = host::format_profile(profile);
  // Refuses what the plugin would refuse, before anything is written.
  (void)host::parse_profile(text, options.output.empty() ? "profile" : options.output);
  write(options, text);
}

void convert(const ConvertOptions& options) {
  const auto text = host::read_text_file(options.input);
  if (is_json(text))
    convert_profile(options, host::parse_profile(text, options.input));
  else
    convert_rows(options, host::parse_tuner_csv(text, options.input));
}

}  // namespace

void add_profile_convert(CLI::App& parent) {
  auto options = std::make_shared<ConvertOptions>();
  auto* command = parent.add_subcommand(
      "convert", "Turn a profile into the CSV of NVIDIA's example tuner, or such a CSV into one");
  command->add_option("file", options->input, "A profile or a CSV")->required()->type_name("FILE");
  command->add_option("-o,--output", options->output, "Write here, not to standard output")
      ->type_name("FILE");
  command->add_option("--ranks", options->ranks, "Of a CSV: for how many ranks, as 4,8")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024));
  command->add_option("--nccl", options->nccl, "Of a CSV: for which NCCL, as 2.30.7");
  command->add_option("--environment", options->environment,
                      "Of a profile: which environment; the best if not given");
  command->callback([options] { convert(*options); });
}

}  // namespace lanewise::cli
