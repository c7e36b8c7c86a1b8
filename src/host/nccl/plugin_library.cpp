// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/plugin_library.hpp"

#include <string>
#include <system_error>

#include "core/error.hpp"
#include "core/profile/launch_plan.hpp"

namespace lanewise::host {

std::vector<std::filesystem::path> plugin_folders(const std::filesystem::path& program) {
  const auto folder = program.parent_path();
  // The first is this build's own layout; then those of other distributions, of one flat folder
  // and of a build tree (src/cli beside plugin).
  std::vector<std::filesystem::path> folders;
  for (const char* relative :
       {LANEWISE_LIBRARY_FROM_PROGRAM, "../lib", "../lib64", ".", "../../plugin"}) {
    auto candidate = (folder / relative).lexically_normal();
    folders.push_back(candidate.has_filename() ? candidate : candidate.parent_path());
  }
  return folders;
}

std::filesystem::path find_plugin_folder() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  std::string tried;
  for (const auto& folder : plugin_folders(program)) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / plugin_file_name, error)) return folder;
    tried += " " + folder.string();
  }
  throw Error(std::string(plugin_file_name) + " is in none of" + tried);
}

}  // namespace lanewise::host
