// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's configuration files: variables that a process gets at NCCL's start unless it has them.
#include <filesystem>
#include <string_view>

#include "core/profile/profile.hpp"

namespace lanewise::host {

// NAME=VALUE a line, taken as NCCL takes it: no blanks are trimmed, '#' starts a comment only at
// the line's start, the first line for a name wins, lines without '=' are skipped.
[[nodiscard]] Environment parse_nccl_conf(std::string_view text);

// What NCCL will add to `own`: from NCCL_CONF_FILE, else from .nccl.conf in `home` (empty: none),
// then from `system_file`. Files that are missing or unreadable add nothing, as with NCCL.
[[nodiscard]] Environment read_nccl_conf(const Environment& own, const std::filesystem::path& home,
                                         const std::filesystem::path& system_file);

// The same for this process: HOME and /etc/nccl.conf.
[[nodiscard]] Environment read_nccl_conf(const Environment& own);

}  // namespace lanewise::host
