// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/plugin_library.hpp"

#include <sys/auxv.h>

#include <algorithm>
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

std::filesystem::path own_program() {
  std::error_code error;
  auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return program;
  // Without /proc: what the kernel was asked to start, from the folder of that moment.
  const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  program = std::filesystem::canonical(started == nullptr ? "" : started, error);
  if (error) throw Error("cannot find this program's own file: expected /proc");
  return program;
}

std::filesystem::path find_plugin_folder() {
  const auto program = own_program();
  std::string tried;
  for (const auto& folder : plugin_folders(program)) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / plugin_file_name, error)) return folder;
    tried += " " + folder.string();
  }
  throw Error(std::string(plugin_file_name) + " is in none of" + tried);
}

PluginPath check_plugin_path(std::string_view value, const std::filesystem::path& folder) {
  if (value.find('/') == std::string_view::npos) return {};
  std::error_code error;
  const std::filesystem::path file(value);
  if (!std::filesystem::is_regular_file(file, error)) return {false, "is not there"};
  const auto own = folder / plugin_file_name;
  if (std::filesystem::equivalent(file, own, error)) return {};
  return {true, "is another copy than " + own.string()};
}

std::vector<std::string> copies_before(std::string_view loader_path,
                                       const std::filesystem::path& folder) {
  std::vector<std::string> copies;
  std::error_code error;
  while (!loader_path.empty()) {
    const auto end = std::min(loader_path.find_first_of(":;"), loader_path.size());
    const std::string entry(loader_path.substr(0, end));
    loader_path.remove_prefix(std::min(end + 1, loader_path.size()));
    // An empty entry is the folder that the process is in.
    const auto file = std::filesystem::path(entry.empty() ? "." : entry) / plugin_file_name;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    if (std::filesystem::equivalent(file, folder / plugin_file_name, error)) break;
    copies.push_back(entry.empty() ? "." : entry);
  }
  return copies;
}

std::string find_direct_folder(const std::filesystem::path& plugin_folder) {
  std::string tried;
  // Beside the plugin as installed, or in a build tree.
  for (const auto& folder : {plugin_folder, plugin_folder.parent_path() / "src" / "direct"}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / direct_preload_name, error) &&
        std::filesystem::is_regular_file(folder / direct_nccl_name, error))
      return folder.string();
    tried += " " + folder.string();
  }
  throw Error(std::string(direct_preload_name) + " and " + std::string(direct_nccl_name) +
              " are in none of" + tried);
}

}  // namespace lanewise::host
