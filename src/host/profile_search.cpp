// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile_search.hpp"

#include <dlfcn.h>

#include <system_error>

#include "host/profile_file.hpp"
#include "lanewise/error.hpp"

namespace lanewise::host {
namespace {

FoundProfile read_for(const std::filesystem::path& path, const std::string& fingerprint) {
  FoundProfile found{path, read_profile(path)};
  if (found.profile.fingerprint != fingerprint)
    throw Error(path.string(), 0,
                "made on machine " + found.profile.fingerprint + ", this is " + fingerprint);
  return found;
}

// The program or library that holds this code; a program may be known by a bare name only.
std::filesystem::path find_own_file() {
  Dl_info object{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<const void*>(&profile_folders), &object) != 0) {
    const auto file = std::filesystem::canonical(object.dli_fname, error);
    if (!error) return file;
  }
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

}  // namespace

std::vector<std::filesystem::path> profile_folders() {
  std::vector<std::filesystem::path> folders = {"/etc/lanewise/profiles"};
  const auto own = find_own_file().parent_path();
  // From bin, lib or lib64; then from lib/x86_64-linux-gnu.
  for (const auto& prefix : {own.parent_path(), own.parent_path().parent_path()})
    folders.push_back(prefix / "share" / "lanewise" / "profiles");
  return folders;
}

std::optional<FoundProfile> find_profile(const std::filesystem::path& named,
                                         const std::string& fingerprint,
                                         const std::vector<std::filesystem::path>& folders) {
  if (!named.empty()) return read_for(named, fingerprint);
  for (const auto& folder : folders) {
    const auto path = folder / (fingerprint + ".json");
    std::error_code error;
    if (std::filesystem::exists(path, error)) return read_for(path, fingerprint);
  }
  return std::nullopt;
}

}  // namespace lanewise::host
