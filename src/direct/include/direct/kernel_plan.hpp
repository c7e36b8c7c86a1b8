// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a kernel of the direct all-reduce is given: the same in every launch of a slot set, so that
// a graph can hold it. Read by the kernels, so only plain data.
#include <cstddef>
#include <cstdint>

namespace lanewise::direct {

inline constexpr int most_ranks = 16;
inline constexpr unsigned kernel_threads = 256;
inline constexpr int most_kernel_blocks = 32;   // more only add flags: a link is full by then
inline constexpr std::size_t flag_bytes = 128;  // a flag's own line
inline constexpr int flag_phases = 2;           // data, and the sums of a two-shot

// The rank writes its own area and reads those of the others.
struct KernelPlan {
  std::byte* areas[most_ranks];  // by rank, as this rank's GPU sees them
  std::uint64_t half_bytes;      // calls alternate between two halves of an area
  std::uint64_t data_offset;     // in a half; lines of LL are at its beginning
  std::uint64_t sums_offset;
  std::uint64_t flags_offset;
  std::uint64_t ll_lines;      // that a half holds
  std::uint64_t* calls_done;   // memory of this GPU, as is blocks_done
  unsigned* blocks_done;       // of the call that runs
  const std::uint64_t* abort;  // not zero: leave; host memory
  std::uint32_t rank;
  std::uint32_t ranks;
};

}  // namespace lanewise::direct
