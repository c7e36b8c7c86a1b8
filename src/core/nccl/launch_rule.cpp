// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/launch_rule.hpp"

#include <algorithm>

namespace lanewise {
namespace {

constexpr int warp_threads = 32;
constexpr int least_threads = 3 * warp_threads;
// The block size of LL and Simple at most; NCCL_NTHREADS may only lower it, to two warps.
constexpr int most_threads = 512;
constexpr int ll128_threads = 640;
constexpr int least_threads_by_user = 2 * warp_threads;
// Tree takes every thread a block can have, whatever the size, from 2.22 on.
constexpr int tree_threads = 640;
// Seen in a run: 2.30.7 has the rule, 2.32.3 has not (tests/data/nccl_choices.csv).
constexpr int slow_ring_threads = 256;
constexpr double slow_ring_gbs = 12.0;
constexpr NcclRelease first_without_slow_rings = {2, 31, 0};
constexpr NcclRelease first_with_own_threads = {2, 22, 0};

// A ring that is no faster than a Gen3 x16 link starts with half the threads.
bool has_slow_ring(const LaunchQuestion& question) noexcept {
  return question.algorithm == Algorithm::ring && question.protocol == Protocol::simple &&
         question.ring_gbs > 0 && question.ring_gbs <= slow_ring_gbs &&
         question.release < first_without_slow_rings;
}

int starting_threads(const LaunchQuestion& question, const NcclLimits& limits) noexcept {
  if (question.protocol == Protocol::ll128) return ll128_threads;
  const auto& user = limits.threads;
  if (!user || *user <= 0) return has_slow_ring(question) ? slow_ring_threads : most_threads;
  if (*user % warp_threads != 0) return most_threads;
  return std::clamp(*user, least_threads_by_user, most_threads);
}

std::size_t needed_bytes(int channels, int threads, std::size_t bytes_per_thread) noexcept {
  return static_cast<std::size_t>(channels) * static_cast<std::size_t>(threads) * bytes_per_thread;
}

int channels_there(const LaunchQuestion& question) noexcept {
  return std::max(question.channels, 1);
}

std::size_t threshold(const LaunchQuestion& question, const NcclLimits& limits) noexcept {
  return thread_threshold(question.algorithm, question.protocol, question.ranks, limits);
}

}  // namespace

std::size_t thread_threshold(Algorithm algorithm, Protocol protocol, int ranks,
                             const NcclLimits& limits) noexcept {
  const auto& user = limits.thread_thresholds[static_cast<std::size_t>(algorithm)]
                                             [static_cast<std::size_t>(protocol)];
  if (user) return static_cast<std::size_t>(*user);
  if (protocol == Protocol::simple) return 64;
  if (protocol == Protocol::ll && algorithm == Algorithm::ring)
    return 8 * static_cast<std::size_t>(ranks);
  return 8;
}

int own_channels(const LaunchQuestion& question, const NcclLimits& limits) noexcept {
  const std::size_t per_thread = threshold(question, limits);
  const int threads = starting_threads(question, limits);
  int channels = channels_there(question);
  while (channels > 1 && question.bytes < needed_bytes(channels, threads, per_thread)) --channels;
  return channels;
}

int scheduled_channels(int asked, const LaunchQuestion& question,
                       const NcclLimits& limits) noexcept {
  const int own = own_channels(question, limits);
  if (asked == 0) return own;
  const bool is_lowering = channel_request(question.release) == ChannelRequest::lowers;
  return std::clamp(asked, 1, is_lowering ? own : channels_there(question));
}

int launched_threads(int asked, const LaunchQuestion& question, const NcclLimits& limits) noexcept {
  const bool is_own = question.release >= first_with_own_threads;
  if (question.algorithm == Algorithm::tree && is_own) return tree_threads;
  const std::size_t per_thread = threshold(question, limits);
  const int channels =
      is_own ? own_channels(question, limits) : scheduled_channels(asked, question, limits);
  int threads = starting_threads(question, limits);
  while (question.bytes < needed_bytes(channels, threads, per_thread) && threads % 128 == 0)
    threads /= 2;
  if (question.protocol == Protocol::simple)
    threads += question.algorithm == Algorithm::ring ? warp_threads : 4 * warp_threads;
  return std::max(threads, least_threads);
}

}  // namespace lanewise
