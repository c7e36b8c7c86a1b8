// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Whether ranks of a communicator share GPUs: every hop then costs less, and others more of them.
#include <cstdint>

namespace lanewise {

// Uneven sharing is `shared` as well.
enum class GpuSharing : std::uint8_t { one_rank_a_gpu, shared };

// `gpus`: how many different ones the ranks drive, or may drive.
[[nodiscard]] constexpr GpuSharing sharing_of(int ranks, int gpus) noexcept {
  return ranks > gpus ? GpuSharing::shared : GpuSharing::one_rank_a_gpu;
}

}  // namespace lanewise
