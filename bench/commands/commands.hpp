// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The subcommands of `lanewise-bench`, one file each. A command throws lanewise::Error where the
// machine or the input cannot serve it (exit status 2) or bench::Exit for another status.

#include "host/process/exit_status.hpp"
#include "program/app.hpp"

namespace lanewise::bench {

using host::Exit;
// Bad input is also no GPU, driver or NCCL; a failure is also a rank that died or hung.
using host::exit_bad_input;
using host::exit_failure;
inline constexpr int exit_wrong_result = 3;  // a sum was wrong
inline constexpr int exit_slower = 4;        // --check never-worse: slower than stock

void add_compare(CLI::App& app);
void add_decide(CLI::App& app);
void add_devices(CLI::App& app);
void add_environments(CLI::App& app);
void add_links(CLI::App& app);
void add_rank(CLI::App& app);
void add_replay(CLI::App& app);
void add_sweep(CLI::App& app);
void add_tune(CLI::App& app);

}  // namespace lanewise::bench
