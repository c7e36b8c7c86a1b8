// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>
#include <cstdio>
#include <exception>

#include "commands.hpp"
#include "lanewise/error.hpp"

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
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : lanewise::cli::exit_bad_input;
  } catch (const lanewise::cli::Exit& exit) {
    return exit.status;
  } catch (const lanewise::Error& error) {
    std::fprintf(stderr, "lanewise: %s\n", error.what());
    return lanewise::cli::exit_bad_input;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanewise: %s\n", error.what());
    return lanewise::cli::exit_failure;
  }
}
