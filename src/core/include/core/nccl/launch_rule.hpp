// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What each NCCL release makes of the channels that a tuner asks for, and the channels and threads
// that it takes by itself under the thresholds in force. The one place that knows it.
#include <cstddef>
#include <cstdint>

#include "core/nccl/choice.hpp"
#include "core/nccl/nccl_limits.hpp"
#include "core/nccl/nccl_release.hpp"

namespace lanewise {

// What a tuner's count does to NCCL's own. From 2.31 on it counts only where it is the lower one.
enum class ChannelRequest : std::uint8_t { replaces, lowers };
[[nodiscard]] constexpr ChannelRequest channel_request(const NcclRelease& release) noexcept {
  return release < NcclRelease{2, 31, 0} ? ChannelRequest::replaces : ChannelRequest::lowers;
}

// Later releases are taken to do as this one.
inline constexpr NcclRelease newest_known_rule = {2, 32, 7};

// What NCCL reckons with for one entry, Tree or Ring, of one communicator. `channels`: the
// communicator's.
struct LaunchQuestion {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::ll;
  std::size_t bytes = 0;  // as a tuner is told them
  int ranks = 0;
  int channels = 0;
  NcclRelease release;
  double ring_gbs = 0;  // of all rings that NCCL's search found together; 0: not known
};

// Bytes a thread must have before NCCL keeps all channels and threads.
[[nodiscard]] std::size_t thread_threshold(Algorithm algorithm, Protocol protocol, int ranks,
                                           const NcclLimits& limits) noexcept;
// NCCL's own count under these limits.
[[nodiscard]] int own_channels(const LaunchQuestion& question, const NcclLimits& limits) noexcept;
// The count that NCCL schedules where a tuner asks for `asked`; 0: it asks for none.
[[nodiscard]] int scheduled_channels(int asked, const LaunchQuestion& question,
                                     const NcclLimits& limits) noexcept;
// Threads of a block for that. From 2.22 on they follow NCCL's own count, whatever a tuner asks.
[[nodiscard]] int launched_threads(int asked, const LaunchQuestion& question,
                                   const NcclLimits& limits) noexcept;

}  // namespace lanewise
