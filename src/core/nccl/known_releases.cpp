// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/known_releases.hpp"

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

// The tags of the public repository and the wheels on PyPI, until September 2026.
constexpr std::array known = {
    NcclRelease{2, 21, 5}, NcclRelease{2, 22, 3}, NcclRelease{2, 23, 4}, NcclRelease{2, 24, 3},
    NcclRelease{2, 25, 1}, NcclRelease{2, 26, 2}, NcclRelease{2, 26, 3}, NcclRelease{2, 26, 5},
    NcclRelease{2, 26, 6}, NcclRelease{2, 27, 3}, NcclRelease{2, 27, 5}, NcclRelease{2, 27, 6},
    NcclRelease{2, 27, 7}, NcclRelease{2, 28, 3}, NcclRelease{2, 28, 7}, NcclRelease{2, 28, 9},
    NcclRelease{2, 29, 2}, NcclRelease{2, 29, 3}, NcclRelease{2, 29, 7}, NcclRelease{2, 30, 3},
    NcclRelease{2, 30, 4}, NcclRelease{2, 30, 7}, NcclRelease{2, 31, 2}, NcclRelease{2, 32, 3},
    NcclRelease{2, 32, 6}, NcclRelease{2, 32, 7}};
static_assert(std::ranges::is_sorted(known));

// NCCL 2.19 and 2.20 ask for version 1 of a tuner, earlier ones for none.
constexpr NcclRelease first = known.front();

std::string list_of_minor(const NcclRelease& release) {
  std::string list;
  for (const auto& one : known)
    if (one.major == release.major && one.minor == release.minor)
      list += (list.empty() ? "" : ", ") + to_string(one);
  return list;
}

}  // namespace

std::optional<std::string> describe_unknown_release(const NcclRelease& release) {
  if (release.major < first.major || (release.major == first.major && release.minor < first.minor))
    return "no NCCL before " + to_string(first) + " loads the plugin: expected that or a later one";
  if (is_newer_than_known(release) || std::ranges::binary_search(known, release))
    return std::nullopt;
  return "there is no such NCCL, so nothing loads the plugin: expected one of " +
         list_of_minor(release);
}

bool is_newer_than_known(const NcclRelease& release) noexcept { return release > known.back(); }

}  // namespace lanewise
