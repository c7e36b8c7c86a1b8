// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which profile is this machine's: the one that a setting names, else by fingerprint from folders.
// No folder of a user is searched: ranks of one job may have different homes and must agree.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/profile.hpp"

namespace lanewise::host {

struct FoundProfile {
  std::filesystem::path path;
  Profile profile;
};

// /etc/lanewise/profiles, then share/lanewise/profiles beside the folder of this program or plugin.
[[nodiscard]] std::vector<std::filesystem::path> profile_folders();

// LANEWISE_PROFILE's word for no profile, whatever the folders hold.
inline constexpr std::string_view no_profile = "none";

// `named` (LANEWISE_PROFILE; empty: not set, no_profile: nullopt) is taken alone and must be
// readable and of this machine. Else the first of `folders` that has FINGERPRINT.json or
// FINGERPRINT-*.json; of several there the one made with `nccl`, then FINGERPRINT.json, then the
// first by name. Nullopt where no folder has one. Throws Error with the reason where a file cannot
// be used or was made on another machine.
[[nodiscard]] std::optional<FoundProfile> find_profile(
    const std::filesystem::path& named, const std::string& fingerprint,
    const std::vector<std::filesystem::path>& folders,
    const std::optional<NcclRelease>& nccl = std::nullopt);

}  // namespace lanewise::host
