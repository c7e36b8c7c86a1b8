// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// An all-reduce in one step: each rank hands its data to every other, and each sums all of it. The
// floor under any ring or tree at small sizes. One machine; ranks are threads or processes, also
// several on one GPU (then as threads, with CUDA_DEVICE_MAX_CONNECTIONS=32 set before CUDA starts:
// kernels that wait for each other must not share one of the GPU's queues, 8 by default).
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "direct/data_type.hpp"
#include "direct/one_shot_shape.hpp"

namespace lanewise::bench {

// How ranks of different GPUs reach each other; those of one GPU always use its memory.
// peer_access: where both directions have it, host memory else. host_memory: as NCCL does with
// NCCL_P2P_DISABLE=1.
enum class OneShotRoute : std::uint8_t { peer_access, host_memory };

// What NCCL would use in this process's environment: host_memory for NCCL_P2P_DISABLE=1 and
// NCCL_P2P_LEVEL=LOC or 0.
[[nodiscard]] OneShotRoute route_from_environment();

struct OneShotOptions {
  std::size_t max_bytes = std::size_t{1} << 20;  // of one call; the same on all ranks
  OneShotRoute route = OneShotRoute::peer_access;
  std::chrono::milliseconds timeout{2'000};  // one wait of a kernel for another rank
  std::optional<OneShotProtocol> protocol;   // for comparing them; the same on all ranks
};

class OneShot {
 public:
  // The words of all ranks in rank order, as RankLink::gather; up to 32 words.
  using Gather = std::function<std::vector<std::uint64_t>(std::span<const std::uint64_t>)>;

  // For the current device, which every later call needs current too. All ranks construct at the
  // same time. Throws Error for options that differ, std::runtime_error where CUDA fails.
  OneShot(int rank, int ranks, const Gather& gather, OneShotOptions options);
  OneShot(const OneShot&) = delete;
  OneShot& operator=(const OneShot&) = delete;
  // Only when the calls of all ranks are done: peers write into its memory.
  ~OneShot();

  // Queues one all-reduce (sum). All ranks call in the same order with the same count, type and
  // protocol; calls of one rank are ordered by streams. May be captured into a graph; a graph may
  // be replayed as often as the other ranks replay theirs. `in` and `out` are aligned to 16 bytes
  // and may be the same. Sums are made in float in the order of ranks and rounded once, so all
  // ranks get the same bits. Throws Error for fp8, above max_bytes and for other alignments.
  void launch(cudaStream_t stream, const void* in, void* out, std::size_t count,
              DataType type) const;

  // After the stream has been waited for: throws std::runtime_error that names a rank which did
  // not answer in time. The group is of no use from then on.
  void check() const;

  // Whether any pair of ranks goes through host memory.
  [[nodiscard]] bool uses_host_memory() const noexcept;

 private:
  class Group;
  std::unique_ptr<Group> group_;
};

}  // namespace lanewise::bench
