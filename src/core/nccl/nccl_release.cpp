// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/nccl_release.hpp"

#include <charconv>

namespace lanewise {

std::optional<NcclRelease> parse_nccl_release(std::string_view text) noexcept {
  NcclRelease release;
  const char* position = text.data();
  const char* const end = position + text.size();
  for (int* part : {&release.major, &release.minor, &release.patch}) {
    if (part != &release.major) {
      if (position == end || *position != '.') return std::nullopt;
      ++position;
    }
    const auto [next, error] = std::from_chars(position, end, *part);
    if (error != std::errc{} || *part < 0) return std::nullopt;
    position = next;
  }
  if (position != end && *position != '+' && *position != '-') return std::nullopt;
  return release;
}

std::string to_string(const NcclRelease& release) {
  return std::to_string(release.major) + '.' + std::to_string(release.minor) + '.' +
         std::to_string(release.patch);
}

}  // namespace lanewise
