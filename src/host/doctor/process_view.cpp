// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/process_view.hpp"

#include <algorithm>
#include <array>

#include "files/split_text.hpp"
#include "host/nccl/nccl_conf.hpp"

namespace lanewise::host {
namespace {

constexpr std::array<std::string_view, 6> system_folders = {"/lib/x86_64-linux-gnu",
                                                            "/usr/lib/x86_64-linux-gnu",
                                                            "/lib64",
                                                            "/usr/lib64",
                                                            "/lib",
                                                            "/usr/lib"};
constexpr std::array<std::string_view, 2> system_folders_arm = {"/lib/aarch64-linux-gnu",
                                                                "/usr/lib/aarch64-linux-gnu"};
constexpr int deepest_include = 2;

void add_once(std::vector<std::string>& paths, std::string path) {
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
}

void add_file(const MachineFiles& files, const std::string& path,
              std::vector<Variable>& variables) {
  for (const auto& [name, value] : parse_nccl_conf(files.read(path).text)) {
    if (std::ranges::find(variables, name, &Variable::name) == variables.end())
      variables.push_back({name, value, path});
  }
}

// Lines of folders, and "include /etc/ld.so.conf.d/*.conf".
void add_loader_conf(const MachineFiles& files, const std::string& path, int depth,
                     std::vector<std::string>& folders) {
  const auto text = files.read(path).text;
  for (const auto line : split_text(text, '\n')) {
    const auto words = trim(line.substr(0, line.find('#')));
    if (words.starts_with('/')) add_once(folders, words);
    if (!words.starts_with("include ") || depth >= deepest_include) continue;
    const auto folder = std::filesystem::path(trim(words.substr(8))).parent_path().string();
    for (const auto& name : files.names(folder)) {
      if (name.ends_with(".conf")) add_loader_conf(files, folder + "/" + name, depth + 1, folders);
    }
  }
}

}  // namespace

Environment parse_environ(std::string_view text) {
  Environment variables;
  for (const auto entry : split_text(text, '\0')) {
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

std::vector<std::string> parse_mapped_nccl(std::string_view maps) {
  std::vector<std::string> paths;
  for (auto line : split_text(maps, '\n')) {
    const auto start = line.find('/');
    if (start == std::string_view::npos) continue;
    line.remove_prefix(start);
    constexpr std::string_view deleted = " (deleted)";
    if (line.ends_with(deleted)) line.remove_suffix(deleted.size());
    if (line.substr(line.rfind('/')).find("nccl") != std::string_view::npos)
      add_once(paths, std::string(line));
  }
  return paths;
}

std::vector<Variable> read_variables(const MachineFiles& files, const Environment& own,
                                     const std::string& origin) {
  std::vector<Variable> variables;
  for (const auto& [name, value] : own) variables.push_back({name, value, origin});
  const auto value_of = [&](const char* name) {
    const auto found = own.find(name);
    return found == own.end() ? std::string() : found->second;
  };
  const auto named = value_of("NCCL_CONF_FILE");
  const auto home = value_of("HOME");
  if (!named.empty()) {
    add_file(files, named, variables);
  } else if (!home.empty()) {
    add_file(files, home + "/.nccl.conf", variables);
  }
  add_file(files, "/etc/nccl.conf", variables);
  std::erase_if(variables, [](const Variable& variable) { return variable.value.empty(); });
  std::ranges::sort(variables, {}, &Variable::name);
  return variables;
}

std::vector<std::string> loader_folders(const Inspection& inspection) {
  std::vector<std::string> folders;
  const auto listed = inspection.value_of("LD_LIBRARY_PATH");
  for (const auto folder : split_text(listed, ':')) {
    if (!folder.empty()) add_once(folders, std::string(folder));
  }
  add_loader_conf(inspection.process_files, "/etc/ld.so.conf", 0, folders);
  for (const auto folder : system_folders) add_once(folders, std::string(folder));
  for (const auto folder : system_folders_arm) add_once(folders, std::string(folder));
  return folders;
}

std::vector<std::string> find_nccl_paths(const Inspection& inspection) {
  std::vector<std::string> paths;
  for (const char* name : {"VLLM_NCCL_SO_PATH", "SGLANG_NCCL_SO_PATH"}) {
    const auto path = inspection.value_of(name);
    if (path.starts_with('/') && inspection.process_files.exists(path)) add_once(paths, path);
  }
  for (const auto& folder : loader_folders(inspection)) {
    auto path = folder + "/libnccl.so.2";
    if (inspection.process_files.exists(path)) add_once(paths, std::move(path));
  }
  return paths;
}

}  // namespace lanewise::host
