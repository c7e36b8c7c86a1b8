// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "nccl/python_folders.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

// A virtual environment's settings: "home = /usr/bin", "include-system-site-packages = false".
std::string read_setting(const fs::path& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string equals;
    std::string value;
    if (words >> key >> equals >> value && key == name && equals == "=") return value;
  }
  return "";
}

// "python3.11"; "python3*" of a folder where the interpreter's file does not say it.
std::vector<fs::path> version_folders(const fs::path& library, const std::string& program) {
  std::error_code error;
  if (program.starts_with("python3.")) return {library / program};
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(library, error))
    if (entry.path().filename().string().starts_with("python3")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

void add_packages(const fs::path& prefix, const std::string& program,
                  std::vector<fs::path>& folders) {
  for (const char* library : {"lib", "lib64"})
    for (const auto& folder : version_folders(prefix / library, program))
      for (const char* packages : {"site-packages", "dist-packages"})
        folders.push_back(folder / packages);
}

// An interpreter of the distribution: Debian's also looks into /usr/local and lib/python3.
void add_installation(const fs::path& prefix, const std::string& program,
                      std::vector<fs::path>& folders) {
  if (prefix.filename() == "usr") add_packages(prefix / "local", program, folders);
  add_packages(prefix, program, folders);
  folders.push_back(prefix / "lib" / "python3" / "dist-packages");
}

}  // namespace

std::vector<std::string> split_path(const Environment& environment, const std::string& name) {
  std::vector<std::string> entries;
  const auto found = environment.find(name);
  if (found == environment.end()) return entries;
  std::istringstream list(found->second);
  for (std::string entry; std::getline(list, entry, ':');)
    if (!entry.empty()) entries.push_back(entry);
  return entries;
}

std::vector<fs::path> python_folders(const fs::path& interpreter, const Environment& environment) {
  std::error_code error;
  const auto real = fs::canonical(interpreter, error);
  const auto program = real.filename().string();
  const auto prefix = interpreter.parent_path().parent_path();
  const auto settings = prefix / "pyvenv.cfg";
  const bool is_virtual = fs::exists(settings, error);

  std::vector<fs::path> folders;
  for (const auto& entry : split_path(environment, "PYTHONPATH")) folders.emplace_back(entry);
  const auto home = environment.find("HOME");
  if (!is_virtual && home != environment.end())
    add_packages(fs::path(home->second) / ".local", program, folders);
  if (is_virtual) {
    add_packages(prefix, program, folders);
    if (read_setting(settings, "include-system-site-packages") != "true") return folders;
  }
  add_installation(real.parent_path().parent_path(), program, folders);
  return folders;
}

}  // namespace lanewise::host
