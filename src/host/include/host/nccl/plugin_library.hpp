// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where the plugin lies next to the program that runs: in an installation, a wheel or a build tree.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::host {

// Folders in which the plugin of the program at `program` may be, the likeliest first.
[[nodiscard]] std::vector<std::filesystem::path> plugin_folders(
    const std::filesystem::path& program);

// The first of the running program's folders that holds the plugin, absolute and normalised.
// Throws Error with all of them where none does.
[[nodiscard]] std::filesystem::path find_plugin_folder();

// What is wrong with a value of a *_PLUGIN variable that names the plugin by a path: "is not there"
// or "is another copy than PATH", where `folder` holds ours. Empty for a bare name.
struct PluginPath {
  bool is_there = true;
  std::string remark;
};
[[nodiscard]] PluginPath check_plugin_path(std::string_view value,
                                           const std::filesystem::path& folder);

// The entries of a loader path before `folder`, or of all of it where `folder` is not in it, that
// hold another copy of the plugin: the loader would take that one.
[[nodiscard]] std::vector<std::string> copies_before(std::string_view loader_path,
                                                     const std::filesystem::path& folder);

// The folder of the direct libraries beside the plugin's. Throws Error with where they are not.
[[nodiscard]] std::string find_direct_folder(const std::filesystem::path& plugin_folder);

}  // namespace lanewise::host
