// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a user says about the environments to screen, for `tune` and `environments` alike.
#include <string>
#include <vector>

#include "program/app.hpp"
#include "search/variables.hpp"

namespace lanewise::bench {

struct EnvironmentOptions {
  std::string memory = "256M";
  std::vector<std::string> given;  // each "NAME=VALUE[,NAME=VALUE ..]"; empty: the search's own
  std::string inject_in;           // for tests, see ScreenOptions
};

void add_environment_options(CLI::App& command, EnvironmentOptions& options);

// "256M", "1G", "64K" or bytes. Throws Error for anything else.
[[nodiscard]] long long parse_memory(const std::string& text);

}  // namespace lanewise::bench
