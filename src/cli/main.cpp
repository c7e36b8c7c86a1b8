// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>

#include "commands.hpp"

namespace {

constexpr std::array commands = {
    lanewise::cli::add_env,      lanewise::cli::add_explain, lanewise::cli::add_graph,
    lanewise::cli::add_profile,  lanewise::cli::add_run,     lanewise::cli::add_settings,
    lanewise::cli::add_topology, lanewise::cli::add_stats,   lanewise::cli::add_version,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Fast small all-reduces on PCIe GPUs: explain, diagnose, start servers.",
               "lanewise");
  app.require_subcommand(1);
  for (const auto add_command : commands) add_command(app);
  return lanewise::host::exit_status_of("lanewise", [&] {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (app.exit(error) != 0) throw lanewise::host::Exit{lanewise::host::exit_bad_input};
    }
  });
}
