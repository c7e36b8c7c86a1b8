// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_options.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/error.hpp"

namespace lanewise::bench {

void add_environment_options(CLI::App& command, EnvironmentOptions& options) {
  command
      .add_option("--memory", options.memory,
                  "Most device memory that an environment may cost a rank, beyond stock's")
      ->capture_default_str();
  command
      .add_option(
          "--environment", options.given,
          "NAME=VALUE[,NAME=VALUE ..] to screen instead of the search's own; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--inject-in", options.inject_in)->group("");
}

long long parse_memory(const std::string& text) {
  std::size_t used = 0;
  long long value = -1;
  try {
    value = std::stoll(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  const std::string unit = text.substr(used);
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  constexpr long long largest = 1LL << 20;  // of any unit: a PiB is no GPU's
  if (used == 0 || value < 0 || shift < 0 || (shift > 0 && value > largest))
    throw Error("\"" + text + "\" is no amount of memory: expected 256M, 1G, 64K or bytes");
  return value << shift;
}

Environment parse_variables(const std::string& text) {
  Environment variables;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, end - start);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error("\"" + part + "\" is no NAME=VALUE, in " + text);
    }
    variables[part.substr(0, equals)] = part.substr(equals + 1);
    start = end + 1;
  }
  return variables;
}

}  // namespace lanewise::bench
