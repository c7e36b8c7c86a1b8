// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <array>

#include "commands.hpp"
#include "program/run_program.hpp"

namespace {

const std::array<lanewise::program::AddCommand, 9> commands = {
    lanewise::bench::add_compare,      lanewise::bench::add_decide, lanewise::bench::add_devices,
    lanewise::bench::add_environments, lanewise::bench::add_links,  lanewise::bench::add_rank,
    lanewise::bench::add_replay,       lanewise::bench::add_sweep,  lanewise::bench::add_tune,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures all-reduces as an engine runs them, tunes, and proves the gain.",
               "lanewise-bench");
  return lanewise::program::run_program(app, commands, argc, argv);
}
