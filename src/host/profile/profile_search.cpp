// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/profile_search.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "host/profile/profile_file.hpp"

namespace lanewise::host {
namespace {

FoundProfile read_for(const std::filesystem::path& path, const std::string& fingerprint) {
  FoundProfile found{path, read_profile(path)};
  if (found.profile.fingerprint != fingerprint)
    throw Error(path.string(), 0,
                "made on machine " + found.profile.fingerprint + ", this is " + fingerprint);
  return found;
}

// FINGERPRINT.json, then FINGERPRINT-*.json by name: the same order on every rank.
std::vector<std::filesystem::path> list_profiles(const std::filesystem::path& folder,
                                                 const std::string& fingerprint) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(fingerprint + '-') && name.ends_with(".json"))
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  const auto first = folder / (fingerprint + ".json");
  if (std::filesystem::exists(first, error)) paths.insert(paths.begin(), first);
  return paths;
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
                                         const std::vector<std::filesystem::path>& folders,
                                         const std::optional<NcclRelease>& nccl) {
  if (named == no_profile) return std::nullopt;
  if (!named.empty()) return read_for(named, fingerprint);
  for (const auto& folder : folders) {
    const auto paths = list_profiles(folder, fingerprint);
    if (paths.empty()) continue;
    auto found = read_for(paths.front(), fingerprint);
    for (std::size_t i = 1; nccl && found.profile.nccl != *nccl && i < paths.size(); ++i) {
      auto other = read_for(paths[i], fingerprint);
      if (other.profile.nccl == *nccl) found = std::move(other);
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace lanewise::host
