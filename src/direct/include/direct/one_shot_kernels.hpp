// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The kernels of one_shot.hpp and their launcher.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "direct/data_type.hpp"
#include "direct/one_shot_shape.hpp"

namespace lanewise::bench {

// One rank's view of the group; the same in every launch, so that a graph can hold it.
struct OneShotPlan {
  int rank = 0;
  int ranks = 0;
  int writes = 0;                                        // entries of write_to
  std::byte* write_to[most_one_shot_ranks] = {};         // areas: each peer's, or the shared one
  const std::byte* read_from[most_one_shot_ranks] = {};  // by sender; own: unused
  std::uint64_t half_bytes = 0;                          // of OneShotArea
  std::uint64_t data_offset = 0;
  std::uint64_t flags_offset = 0;
  std::uint64_t* epoch = nullptr;  // calls done; memory of this GPU, as is ticket
  unsigned* ticket = nullptr;      // blocks of this call that are done
  std::uint64_t* lost = nullptr;   // 1 + a rank that did not answer; host memory
  std::uint64_t timeout_ns = 0;    // one wait
};

// Throws Error for a type without a kernel.
void launch_one_shot(const OneShotPlan& plan, OneShotProtocol protocol, int blocks, const void* in,
                     void* out, std::size_t count, DataType type, cudaStream_t stream);

// Loads the kernels into the current device: see preload_ping_kernels.
void preload_one_shot_kernels();

}  // namespace lanewise::bench
