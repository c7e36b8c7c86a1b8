// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// An examined process: its variables with NCCL's configuration files, and the files that it has
// mapped.
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"

namespace lanewise::host {

// NAME=VALUE, each ended by a NUL.
[[nodiscard]] Environment parse_environ(std::string_view text);

// The paths in /proc/PID/maps that hold "nccl", each once.
[[nodiscard]] std::vector<std::string> parse_mapped_nccl(std::string_view maps);

// The process's own variables, then those that NCCL adds from its configuration files. By name.
[[nodiscard]] std::vector<Variable> read_variables(const MachineFiles& files,
                                                   const Environment& own,
                                                   const std::string& origin);

// Files by which a program without a process may load NCCL: the engines' variables,
// LD_LIBRARY_PATH, the system's folders. Only those that are there, each once.
[[nodiscard]] std::vector<std::string> find_nccl_paths(const Inspection& inspection);

// Folders in which the loader of the examined process looks, in its order, as far as they are
// known without it: LD_LIBRARY_PATH, ld.so.conf, the system's.
[[nodiscard]] std::vector<std::string> loader_folders(const Inspection& inspection);

}  // namespace lanewise::host
