// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// An NCCL release and the limits that changed between releases.
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace lanewise {

struct NcclRelease {
  int major = 0;
  int minor = 0;
  int patch = 0;
  friend auto operator<=>(const NcclRelease&, const NcclRelease&) = default;

  // From ncclGetVersion's number: 22809 is 2.28.9.
  [[nodiscard]] static constexpr NcclRelease from_code(int code) noexcept {
    return {code / 10000, code / 100 % 100, code % 100};
  }
  // MAXCHANNELS of the release's device code: 32 before 2.25, 64 since.
  [[nodiscard]] constexpr int max_channels() const noexcept {
    return *this < NcclRelease{2, 25, 0} ? 32 : 64;
  }
};

// "2.30.7", also with a suffix as in "2.30.7+cuda13.0"; nullopt for anything else.
[[nodiscard]] std::optional<NcclRelease> parse_nccl_release(std::string_view text) noexcept;
[[nodiscard]] std::string to_string(const NcclRelease& release);

}  // namespace lanewise
