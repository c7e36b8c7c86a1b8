// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What NCCL_MIN_* and NCCL_MAX_* leave of a communicator's channels, and whether rules that were
// measured under some bounds hold under others.
#include <optional>

#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {

// NCCL has max(low, min(high, channels found)) channels; `high` is never below `low`.
struct ChannelBounds {
  int low = 0;  // 0: NCCL's own
  int high = 0;
  friend bool operator==(const ChannelBounds&, const ChannelBounds&) = default;
};

[[nodiscard]] ChannelBounds channel_bounds(const Environment& variables,
                                           const NcclRelease& release) noexcept;

// Rules measured `there` hold `here` where the bounds are equal, and up to `here.high` channels
// where only that is lower: what was the fastest of all choices is the fastest of those that are
// left. Nullopt where there may be more channels than were measured: NCCL itself may be faster.
[[nodiscard]] std::optional<int> usable_channels(const ChannelBounds& there,
                                                 const ChannelBounds& here) noexcept;

}  // namespace lanewise
