// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "commands.hpp"
#include "program/run_program.hpp"

namespace {

using Arguments = std::span<const char* const>;

// What `run` starts is none of ours: CLI11, which takes "[1,2]" apart, does not see it.
std::size_t count_own(Arguments arguments) {
  constexpr std::string_view separator = "--";
  if (arguments.size() < 2 || arguments[1] != std::string_view("run")) return arguments.size();
  const auto found = std::find(arguments.begin(), arguments.end(), separator);
  return static_cast<std::size_t>(found - arguments.begin());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lanewise;
  const Arguments arguments(argv, static_cast<std::size_t>(argc));
  const auto own = count_own(arguments);
  const std::array<program::AddCommand, 12> commands = {
      cli::add_backends, cli::add_doctor,
      cli::add_env,      cli::add_explain,
      cli::add_graph,    cli::add_model,
      cli::add_profile,  [&](CLI::App& app) { cli::add_run(app, arguments.subspan(own)); },
      cli::add_settings, cli::add_topology,
      cli::add_stats,    cli::add_version,
  };
  CLI::App app("Fast small all-reduces on PCIe GPUs: explain, diagnose, start servers.",
               "lanewise");
  return program::run_program(app, commands, static_cast<int>(own), argv);
}
