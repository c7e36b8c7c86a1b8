// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A program that is made of subcommands, from its command line to its exit status; for main.cpp of
// lanewise and of lanewise-bench.
#include <functional>
#include <span>

#include "program/app.hpp"

namespace lanewise::program {

// Adds one subcommand to a program.
using AddCommand = std::function<void(CLI::App&)>;

// Runs the one of `commands` that the command line names. The status is host::exit_status_of's, and
// exit_bad_input for a command line that cannot be taken; a word that is no command is named, with
// the commands that there are.
[[nodiscard]] int run_program(CLI::App& app, std::span<const AddCommand> commands, int argc,
                              const char* const* argv);

}  // namespace lanewise::program
