// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>

#include "commands.hpp"
#include "program/run_program.hpp"

namespace {

constexpr std::array commands = {
    lanewise::cli::add_doctor,   lanewise::cli::add_env,      lanewise::cli::add_explain,
    lanewise::cli::add_graph,    lanewise::cli::add_profile,  lanewise::cli::add_run,
    lanewise::cli::add_settings, lanewise::cli::add_topology, lanewise::cli::add_stats,
    lanewise::cli::add_version,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Fast small all-reduces on PCIe GPUs: explain, diagnose, start servers.",
               "lanewise");
  return lanewise::program::run_program(app, commands, argc, argv);
}
