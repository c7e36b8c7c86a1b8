// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where a Python keeps its packages, for server_nccl.cpp alone.
#include <filesystem>
#include <string>
#include <vector>

#include "core/profile/profile.hpp"

namespace lanewise::host {

// The entries of a list such as PATH, without empty ones.
[[nodiscard]] std::vector<std::string> split_path(const Environment& environment,
                                                  const std::string& name);

// In the order in which `interpreter` looks: PYTHONPATH, a user's own packages, its site-packages.
[[nodiscard]] std::vector<std::filesystem::path> python_folders(
    const std::filesystem::path& interpreter, const Environment& environment);

}  // namespace lanewise::host
