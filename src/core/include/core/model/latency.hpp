// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Predicted time of an all-reduce on one node without NVLink: base + hops + waves + bytes, with
// constants fitted to measurements. Ratios of predictions decide; absolute times vary by machine.
#include <array>
#include <cstddef>

#include "core/machine/gpu_sharing.hpp"
#include "core/model/machine_model.hpp"
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
  friend bool operator==(const LatencyConstants&, const LatencyConstants&) = default;
};

// Fitted to 2 and 4 ranks with a GPU each, and to 4 and 8 ranks that share 2, over host memory.
[[nodiscard]] const LatencyConstants& measured_constants(GpuSharing sharing) noexcept;

// 95 % of the data are this near to the fit (scripts/fit_waves.py prints it).
inline constexpr double fit_error = 0.15;

// One machine's own constants, fitted to times of communicators like this one. It says nothing of
// smaller and larger messages than it was fitted to.
struct MachineFit {
  int channels = 0;  // of its communicators
  std::size_t smallest_bytes = 0;
  std::size_t largest_bytes = 0;
  LatencyConstants constants;
  [[nodiscard]] bool covers(std::size_t bytes) const noexcept {
    return smallest_bytes <= bytes && bytes <= largest_bytes;
  }
  friend bool operator==(const MachineFit&, const MachineFit&) = default;
};

// What each of the terms is multiplied by, in the order of LatencyTerms.
using TermFactors = std::array<double, 7>;
[[nodiscard]] TermFactors term_factors(const Choice& choice, std::size_t bytes, int ranks,
                                       const Launch& launch) noexcept;
[[nodiscard]] const LatencyTerms& terms_of(const Choice& choice,
                                           const LatencyConstants& constants) noexcept;

// Microseconds, in the parts that add up. `wire_us` is a floor from facts alone: all bytes of the
// busiest link at its rate. `contention_us` is what moving them takes beyond it.
struct Prediction {
  double base_us = 0;
  double hops_us = 0;
  double waves_us = 0;
  double wire_us = 0;
  double contention_us = 0;
  friend bool operator==(const Prediction&, const Prediction&) = default;
  [[nodiscard]] double total_us() const noexcept {
    return base_us + hops_us + waves_us + wire_us + contention_us;
  }
};

// Meaningful only for entries with is_modelled(), as is everything below.
[[nodiscard]] Prediction predict(const Choice& choice, std::size_t bytes,
                                 const Communicator& communicator,
                                 const MachineModel& machine) noexcept;
// The same with other constants than the measured ones; `launch` is launch_of() the rest.
[[nodiscard]] Prediction predict(const LatencyTerms& terms, const Choice& choice, std::size_t bytes,
                                 int ranks, const Launch& launch,
                                 const MachineModel& machine) noexcept;

// The sum, on the machine that the constants are fitted on.
[[nodiscard]] double predicted_us(const Choice& choice, std::size_t bytes,
                                  const Communicator& communicator) noexcept;

// No all-reduce by this choice takes less, for `link_rate` GB/s through its narrowest hop.
[[nodiscard]] double least_wire_us(const Choice& choice, std::size_t bytes, int ranks,
                                   double link_rate) noexcept;

}  // namespace lanewise
