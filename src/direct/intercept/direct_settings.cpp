// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "intercept/direct_settings.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"

namespace lanewise::direct {
namespace {

constexpr int most_graphs = 1024;
constexpr int longest_agreement_ms = 60'000;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

int parse_number(const char* name, std::string_view value, int lowest, int highest) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < lowest ||
      number > highest) {
    throw Error(std::string(name) + "=" + std::string(value) + ": expected a number from " +
                std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return number;
}

// What keeps NCCL from using peer access keeps us from sharing a GPU's memory: both then measure
// the same way through the machine.
bool is_told_to_use_host_memory() {
  const auto level = variable("NCCL_P2P_LEVEL");
  return variable("NCCL_P2P_DISABLE") == "1" || level == "LOC" || level == "0";
}

DirectSettings read_or_say() {
  try {
    return read_direct_settings();
  } catch (const Error& error) {
    say(std::string(error.what()) + "; all calls stay with NCCL");
    return {};
  }
}

}  // namespace

DirectSettings read_direct_settings() {
  DirectSettings settings;
  const auto log = variable("LANEWISE_LOG");
  settings.is_counting = variable("LANEWISE_STATS") != "0";
  settings.is_quiet = log == "off";
  settings.is_verbose = log == "debug" || log == "trace" || variable("NCCL_DEBUG") == "INFO";
  settings.may_use_gpu = !is_told_to_use_host_memory();
  if (const auto graphs = variable("LANEWISE_DIRECT_GRAPHS"); !graphs.empty())
    settings.graphs = parse_number("LANEWISE_DIRECT_GRAPHS", graphs, 0, most_graphs);
  if (const auto limit = variable("LANEWISE_AGREE_MS"); !limit.empty())
    settings.agreement_limit = std::chrono::milliseconds(
        parse_number("LANEWISE_AGREE_MS", limit, 1, longest_agreement_ms));
  if (const auto ranges = variable("LANEWISE_DIRECT"); !ranges.empty() && ranges != "0")
    settings.ranges = parse_size_ranges(ranges);
  return settings;
}

const DirectSettings& direct_settings() {
  static const auto& settings = *new DirectSettings(read_or_say());
  return settings;
}

void say(const std::string& text) {
  const std::string line = "lanewise: direct: " + text + "\n";
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace lanewise::direct
