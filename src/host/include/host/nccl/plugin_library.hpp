// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where the plugin lies next to the program that runs: in an installation, a wheel or a build tree.
#include <filesystem>
#include <vector>

namespace lanewise::host {

// Folders in which the plugin of the program at `program` may be, the likeliest first.
[[nodiscard]] std::vector<std::filesystem::path> plugin_folders(
    const std::filesystem::path& program);

// The first of the running program's folders that holds the plugin, absolute and normalised.
// Throws Error with all of them where none does.
[[nodiscard]] std::filesystem::path find_plugin_folder();

}  // namespace lanewise::host
