// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/server_nccl.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "nccl/python_folders.hpp"

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

constexpr std::array engine_variables = {"VLLM_NCCL_SO_PATH", "SGLANG_NCCL_SO_PATH"};
constexpr std::string_view wheel_prefix = "nvidia_nccl_cu";
constexpr std::string_view wheel_suffix = ".dist-info";

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

fs::path find_program(const std::string& word, const Environment& environment) {
  if (word.find('/') != std::string::npos) return is_file(word) ? fs::path(word) : fs::path();
  for (const auto& folder : split_path(environment, "PATH")) {
    const auto path = fs::path(folder) / word;
    if (is_file(path) && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

bool names_python(const fs::path& path) {
  const auto name = path.filename().string();
  return name.starts_with("python") &&
         name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

// "#!/venv/bin/python", "#!/usr/bin/env -S python3 -u", and what pip writes where a path is long
// or has a blank: "#!/bin/sh", then "'''exec' "/a path/python" "$0" "$@"".
fs::path read_interpreter(const fs::path& script, const Environment& environment) {
  std::ifstream file(script, std::ios::binary);
  std::string line;
  if (file.get() != '#' || file.get() != '!' || !std::getline(file, line)) return {};
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (names_python(word)) return word;
  if (fs::path(word).filename() == "env") {
    while (words >> word)
      if (names_python(word)) return find_program(word, environment);
    return {};
  }
  std::getline(file, line);
  constexpr std::string_view start = "'''exec' ";
  if (!line.starts_with(start)) return {};
  line.erase(0, start.size());
  const bool is_quoted = line.starts_with('"');
  word = is_quoted ? line.substr(1, line.find('"', 1) - 1) : line.substr(0, line.find(' '));
  return names_python(word) ? fs::path(word) : fs::path();
}

// "libnccl.so.2.30.7", where the file that a link leads to says it.
std::optional<NcclRelease> release_of_file(const fs::path& library) {
  constexpr std::string_view start = "libnccl.so.";
  std::error_code error;
  const auto name = fs::canonical(library, error).filename().string();
  if (error || !name.starts_with(start)) return std::nullopt;
  return parse_nccl_release(std::string_view(name).substr(start.size()));
}

// "nvidia_nccl_cu13-2.30.7.dist-info". Two wheels lie in one folder, so which one was last is not
// to be told.
std::optional<NcclRelease> release_of_wheel(const fs::path& packages) {
  std::error_code error;
  std::optional<NcclRelease> release;
  for (const auto& entry : fs::directory_iterator(packages, error)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(wheel_prefix) || !name.ends_with(wheel_suffix)) continue;
    if (release) return std::nullopt;
    name.resize(name.size() - wheel_suffix.size());
    release = parse_nccl_release(std::string_view(name).substr(name.find('-') + 1));
    if (!release) return std::nullopt;
  }
  return release;
}

// .../nvidia/nccl/lib/libnccl.so.2 of a wheel, or any other.
std::optional<ServerNccl> identify(const fs::path& library) {
  auto release = release_of_file(library);
  if (!release)
    release = release_of_wheel(library.parent_path().parent_path().parent_path().parent_path());
  if (!release) return std::nullopt;
  return ServerNccl{*release, library};
}

fs::path find_named_library(const Environment& environment) {
  for (const char* name : engine_variables) {
    const auto found = environment.find(name);
    if (found != environment.end() && is_file(found->second)) return found->second;
  }
  const auto preloaded = environment.find("LD_PRELOAD");
  if (preloaded == environment.end()) return {};
  std::string list = preloaded->second;
  for (char& sign : list)
    if (sign == ':') sign = ' ';
  std::istringstream words(list);
  for (std::string word; words >> word;)
    if (word.find("libnccl.so") != std::string::npos && is_file(word)) return word;
  return {};
}

fs::path find_library(const ServerCommand& command, const std::vector<fs::path>& system_folders) {
  auto named = find_named_library(command.environment);
  if (!named.empty()) return named;
  // Any other program may start whatever Python it likes.
  const auto interpreter = find_interpreter(command);
  if (interpreter.empty()) return {};
  for (const auto& folder : python_folders(interpreter, command.environment))
    if (auto library = folder / "nvidia/nccl/lib/libnccl.so.2"; is_file(library)) return library;
  for (const auto& folder : split_path(command.environment, "LD_LIBRARY_PATH"))
    if (auto library = fs::path(folder) / "libnccl.so.2"; is_file(library)) return library;
  for (const auto& folder : system_folders)
    if (auto library = folder / "libnccl.so.2"; is_file(library)) return library;
  return {};
}

}  // namespace

fs::path find_interpreter(const ServerCommand& command) {
  for (const auto& word : command.words) {
    const auto program = find_program(word, command.environment);
    if (program.empty()) continue;
    if (names_python(program)) return program;
    auto interpreter = read_interpreter(program, command.environment);
    if (!interpreter.empty()) return interpreter;
  }
  return {};
}

std::optional<ServerNccl> find_server_nccl(const ServerCommand& command,
                                           const std::vector<fs::path>& system_folders) {
  const auto library = find_library(command, system_folders);
  if (library.empty()) return std::nullopt;
  return identify(library);
}

std::vector<fs::path> loader_folders() {
  return {"/lib/x86_64-linux-gnu",
          "/usr/lib/x86_64-linux-gnu",
          "/lib/aarch64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu",
          "/lib64",
          "/usr/lib64",
          "/usr/local/lib",
          "/usr/lib"};
}

Environment read_server_environment() {
  Environment environment;
  for (const char* name : {"PATH", "HOME", "PYTHONPATH", "LD_PRELOAD", "LD_LIBRARY_PATH",
                           "VLLM_NCCL_SO_PATH", "SGLANG_NCCL_SO_PATH"})
    if (const char* value = std::getenv(name); value != nullptr) environment.emplace(name, value);
  return environment;
}

}  // namespace lanewise::host
