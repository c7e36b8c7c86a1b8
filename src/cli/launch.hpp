// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#pragma once

// What `lanewise run` and `lanewise env` share: from the options to a plan.
#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "core/profile/launch_plan.hpp"

namespace lanewise::cli {

// A child inherits this process's variables and its NCCL configuration files; a container or a
// unit inherits nothing and, for a container, has its own loader path.
enum class LaunchTarget : std::uint8_t { child, unit, container };

struct PreparedLaunch {
  LaunchPlan plan;
  std::string plugin_folder;
  std::string profile_path;        // the profile's file; empty: none
  std::vector<std::string> files;  // that the plan's variables name
};

// What the user says of a launch; empty: not given.
struct LaunchOptions {
  std::string profile;
  std::string nccl;                  // the release that the server will load
  std::vector<std::string> command;  // that will be started, where it is known
  bool is_direct = false;            // the all-reduces of some sizes are taken from NCCL
};

void add_launch_options(CLI::App& command, LaunchOptions& options);

// A profile is applied only to the NCCL that it was measured with, where the server's is known.
// Throws lanewise::Error, also where a file that a variable of the plan names is not there: NCCL
// would fail every communicator.
[[nodiscard]] PreparedLaunch prepare_launch(const LaunchOptions& options, LaunchTarget target);

// To stderr: each variable with its reason, then what was left alone.
void print_launch(const LaunchPlan& plan);

}  // namespace lanewise::cli
