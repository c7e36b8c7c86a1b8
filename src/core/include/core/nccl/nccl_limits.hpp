// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What the user's environment limits in NCCL, as numbers. The host parses the variables; the core
// reckons with them. Nullopt everywhere: NCCL's defaults.
#include <array>
#include <optional>

#include "core/nccl/choice.hpp"
#include "core/nccl/nccl_release.hpp"

namespace lanewise {

struct NcclLimits {
  std::optional<int> min_channels;  // NCCL_MIN_NCHANNELS, else NCCL_MIN_NRINGS
  std::optional<int> max_channels;  // NCCL_MAX_NCHANNELS, else NCCL_MAX_NRINGS
  std::optional<int> min_ctas;      // NCCL_MIN_CTAS
  std::optional<int> max_ctas;      // NCCL_MAX_CTAS
  std::optional<int> threads;       // NCCL_NTHREADS
  // NCCL_THREAD_THRESHOLDS in bytes a thread, six numbers: rows tree and ring, columns LL, LL128,
  // Simple. A negative number there keeps NCCL's default and is nullopt here.
  std::array<std::array<std::optional<long long>, protocol_count>, 2> thread_thresholds;
  friend bool operator==(const NcclLimits&, const NcclLimits&) = default;
};

// Whether NCCL_THREAD_THRESHOLDS says how many channels and threads ring LL keeps.
[[nodiscard]] bool has_own_thresholds(const NcclLimits& limits) noexcept;
// The same without NCCL_THREAD_THRESHOLDS.
[[nodiscard]] NcclLimits without_thresholds(NcclLimits limits) noexcept;

// The communicator's channels where NCCL's graph search found `search_channels`: doubled, then
// under the maxima, then raised to the minima (a minimum beats a maximum). In 1..max_channels().
[[nodiscard]] int channels_of_communicator(int search_channels, const NcclLimits& limits,
                                           const NcclRelease& release) noexcept;

}  // namespace lanewise
