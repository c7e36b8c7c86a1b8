// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Predicted time of an all-reduce on one node without NVLink: base + hops + waves + bytes, with
// constants fitted to measurements. Ratios of predictions decide; absolute times vary by machine.
#include <array>
#include <cstddef>

#include "core/machine/gpu_sharing.hpp"
#include "core/model/waves.hpp"
#include "core/nccl/choice.hpp"

namespace lanewise {

// Microseconds. A hop is one of the 2(n-1) steps from rank to rank. Ring pays waves and slice in
// each hop, Tree once: its hops overlap. Zero: the term does not occur.
struct LatencyTerms {
  double base_us = 0;
  double hop_us = 0;
  double wave_us = 0;       // of one pass of the block, see Launch::waves
  double slice_kib_us = 0;  // of 1 KiB of the slice
  double fill_kib_us = 0;   // of 1 KiB in each hop, until the FIFO is full and the hops overlap
  double block_us = 0;      // of 512 threads in each hop
  double kib_us = 0;        // of 1 KiB of the message: what all channels share
  friend bool operator==(const LatencyTerms&, const LatencyTerms&) = default;
};

struct LatencyConstants {
  std::size_t largest_tree_bytes = 0;  // that Tree's terms hold for
  LatencyTerms tree_ll;
  LatencyTerms tree_simple;
  LatencyTerms ring_ll;
  LatencyTerms ring_simple;
};

// Fitted to 2 and 4 ranks with a GPU each, and to 4 and 8 ranks that share 2, over host memory.
[[nodiscard]] const LatencyConstants& measured_constants(GpuSharing sharing) noexcept;

// Microseconds, with the constants of the communicator's sharing; meaningful only for entries with
// is_modelled().
[[nodiscard]] double predicted_us(const Choice& choice, std::size_t bytes,
                                  const Communicator& communicator) noexcept;

}  // namespace lanewise
