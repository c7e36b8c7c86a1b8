// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How NCCL runs one all-reduce on one node: threads, channels (launch_rule.hpp) and the passes
// ("waves") that a block needs for a step. Pure arithmetic; nothing is measured here.
#include <cstddef>

#include "core/machine/gpu_sharing.hpp"
#include "core/nccl/choice.hpp"
#include "core/nccl/nccl_limits.hpp"
#include "core/nccl/nccl_release.hpp"

namespace lanewise {

// `channels` is comm->nChannels, fixed when the communicator was made.
struct Communicator {
  int ranks = 0;     // >= 2
  int channels = 0;  // 1..64
  NcclRelease release;
  NcclLimits limits;
  GpuSharing sharing = GpuSharing::one_rank_a_gpu;
  double ring_gbs = 0;  // what NCCL's search found, its channels together; 0: not known
};

// `slice_bytes`: what the fullest channel carries in one step. `waves`: passes of the block over
// it, ceil(slice / (payload bytes a thread moves in a pass * threads)); at least 1.
struct Launch {
  int threads = 0;
  int channels = 0;
  std::size_t slice_bytes = 0;
  int waves = 0;
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Only Ring and Tree with LL or Simple are modelled; LL128 and other algorithms are not.
[[nodiscard]] bool is_modelled(Algorithm algorithm, Protocol protocol) noexcept;

// The number of channels NCCL takes by itself for this size.
[[nodiscard]] int default_channels(Algorithm algorithm, Protocol protocol, std::size_t bytes,
                                   const Communicator& communicator) noexcept;

// The most that a tuner can have for this size; also of LL128.
[[nodiscard]] int most_channels(Algorithm algorithm, Protocol protocol, std::size_t bytes,
                                const Communicator& communicator) noexcept;

// The launch of a lone all-reduce. choice.channels 0 is NCCL's default; more than the release lets
// a tuner have is lowered, and small messages get fewer channels than asked for, as in NCCL.
[[nodiscard]] Launch launch_of(const Choice& choice, std::size_t bytes,
                               const Communicator& communicator) noexcept;

}  // namespace lanewise
