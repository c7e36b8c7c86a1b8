// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/nccl_limits.hpp"

#include <algorithm>

namespace lanewise {

bool has_own_thresholds(const NcclLimits& limits) noexcept {
  return limits
      .thread_thresholds[static_cast<std::size_t>(Algorithm::ring)]
                        [static_cast<std::size_t>(Protocol::ll)]
      .has_value();
}

NcclLimits without_thresholds(NcclLimits limits) noexcept {
  limits.thread_thresholds = {};
  return limits;
}

int channels_of_communicator(int search_channels, const NcclLimits& limits,
                             const NcclRelease& release) noexcept {
  const int most = release.max_channels();
  int channels = std::clamp(2 * std::clamp(search_channels, 1, most), 1, most);
  for (const auto& limit : {limits.max_channels, limits.max_ctas})
    if (limit) channels = std::min(channels, std::max(*limit, 1));
  for (const auto& limit : {limits.min_channels, limits.min_ctas})
    if (limit) channels = std::max(channels, *limit);
  return std::clamp(channels, 1, most);
}

}  // namespace lanewise
