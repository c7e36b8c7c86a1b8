// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which NCCL a server will load, from its command alone: before it runs, without running anything.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"

namespace lanewise::host {

// What is about to be started: its words, and its variables (PATH, HOME, PYTHONPATH, LD_PRELOAD,
// LD_LIBRARY_PATH, and the *_NCCL_SO_PATH of engines are looked at).
struct ServerCommand {
  std::vector<std::string> words;
  Environment environment;
};

struct ServerNccl {
  NcclRelease release;
  std::filesystem::path library;
};

// The Python that the first such word starts: an interpreter, or a script whose first line names
// one. By the path that was asked for, as a virtual environment's is a link. Empty: none.
[[nodiscard]] std::filesystem::path find_interpreter(const ServerCommand& command);

// The library that a variable names; else, where the command starts a Python, its nvidia-nccl
// wheel, else libnccl.so.2 of LD_LIBRARY_PATH and of `system_folders`. Nullopt where none is found,
// or the one that is found does not tell its release.
[[nodiscard]] std::optional<ServerNccl> find_server_nccl(
    const ServerCommand& command, const std::vector<std::filesystem::path>& system_folders);

// Where the loaders of common distributions look.
[[nodiscard]] std::vector<std::filesystem::path> loader_folders();

// The variables above, as this process has them.
[[nodiscard]] Environment read_server_environment();

}  // namespace lanewise::host
