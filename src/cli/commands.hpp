// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#pragma once

// The subcommands of `lanewise`, one file each: topology.cpp holds add_topology, and so on. A
// command throws lanewise::Error for bad input (exit status 2) or cli::Exit for another status.
#include <span>

#include "host/process/exit_status.hpp"
#include "program/app.hpp"

namespace lanewise::cli {

using host::Exit;
using host::exit_bad_input;
using host::exit_failure;

void add_backends(CLI::App& app);
void add_doctor(CLI::App& app);
void add_env(CLI::App& app);
void add_explain(CLI::App& app);
void add_graph(CLI::App& app);
void add_model(CLI::App& app);
void add_profile(CLI::App& app);
// `command`: "--" and the words after it, exactly as they were given; empty where there is no "--".
void add_run(CLI::App& app, std::span<const char* const> command);
void add_settings(CLI::App& app);
void add_topology(CLI::App& app);
void add_stats(CLI::App& app);
void add_version(CLI::App& app);

}  // namespace lanewise::cli
