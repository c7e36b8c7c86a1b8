// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_options.hpp"

#include <CLI/CLI.hpp>
#include <limits>

#include "core/byte_size.hpp"
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
  const auto bytes = parse_byte_size(text);
  if (!bytes || *bytes > std::numeric_limits<long long>::max())
    throw Error("\"" + text + "\" is no amount of memory: expected 256M, 1G, 64K or bytes");
  return static_cast<long long>(*bytes);
}

}  // namespace lanewise::bench
