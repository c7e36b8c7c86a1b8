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

inline constexpr const char* base_variable = "NCCL_THREAD_THRESHOLDS";

// The largest communicator with a value of its own; a larger one has that of the whole process.
inline constexpr int most_ranks_with_base_of_their_own = 64;

// NCCL_THREAD_THRESHOLDS with a ring LL threshold of 8 bytes a thread, and NCCL's own elsewhere.
//
// NCCL drops channels, then halves threads, until each thread has that many bytes; its own ring LL
// threshold is 8 times the ranks. At 4 times the ranks or less, channels times threads are at least
// bytes / (8 * ranks), so every call is one wave until the channels run out. A value of the process
// serves all its communicators, which may have 2 ranks, so it is 4 * 2. A lower one than a
// communicator needs leaves it more channels than it needs, which a tuner can lower; from NCCL 2.31
// on it cannot raise them. But threads it cannot lower either, and calls of few bytes run 3 to 6 %
// slower in larger blocks (bench/RESULTS.md).
//
// So where a value can be that of one communicator (`ranks`: 2 to
// most_ranks_with_base_of_their_own) it is 4 times the ranks, and 1: a size that is a power of two,
// as the ranks are, then has the block that NCCL gives it by itself, and calls are one wave all the
// same, but for the first 512 bytes above 2 KiB a rank, of which NCCL makes two.
//
// `release`: nullopt where nobody knows it yet.
[[nodiscard]] Environment base_environment(const std::optional<NcclRelease>& release,
                                           const std::optional<int>& ranks = std::nullopt);

// Whether NCCL asks for the thresholds of each communicator after its tuner's init, on the same
// thread, so that an env plugin can answer with a value of this communicator's. Of the releases
// where that was seen in a run: 2.31.2 and 2.32.3, and so their patches.
[[nodiscard]] bool has_base_of_each_communicator(const NcclRelease& release) noexcept;

// Whether these limits are NCCL's defaults with the base environment's thresholds, a process's or
// those of a communicator of so many ranks, however written.
[[nodiscard]] bool has_base_thresholds(const NcclLimits& limits, int ranks) noexcept;

// What stock is measured by: the limits in force without the base environment's thresholds. A
// user's own thresholds stay.
[[nodiscard]] NcclLimits stock_limits(const NcclLimits& limits, int ranks) noexcept;

}  // namespace lanewise
