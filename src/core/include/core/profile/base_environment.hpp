// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The environment that Lanewise asks for whatever the machine: it needs no measurement. Applied by
// `lanewise run` and `env`, the env plugin, and the net plugin where it may.
#include <optional>

#include "core/nccl/nccl_limits.hpp"
#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {

// NCCL_THREAD_THRESHOLDS with a ring LL threshold of 8 bytes a thread, and NCCL's own elsewhere.
//
// NCCL drops channels, then halves threads, until each thread has that many bytes; its own ring LL
// threshold is 8 times the ranks. At 4 times the ranks or less, channels times threads are at least
// bytes / (8 * ranks), so every call is one wave until the channels run out. The value is per
// process and its communicators may have 2 ranks, so it is 4 * 2. A lower one than a communicator
// needs leaves it more channels than it needs, which a tuner can lower; from NCCL 2.31 on it cannot
// raise them. So the same value serves every communicator and every release.
//
// `release`: nullopt where nobody knows it yet.
[[nodiscard]] Environment base_environment(const std::optional<NcclRelease>& release);

// Whether these limits are NCCL's defaults with the base environment's thresholds, however written.
[[nodiscard]] bool has_base_thresholds(const NcclLimits& limits, int ranks) noexcept;

// What stock is measured by: the limits in force without the base environment's thresholds. A
// user's own thresholds stay.
[[nodiscard]] NcclLimits stock_limits(const NcclLimits& limits, int ranks) noexcept;

}  // namespace lanewise
