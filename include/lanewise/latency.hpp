// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Predicted time of an all-reduce on one node without NVLink: base + hops + waves + bytes, with
// constants fitted to measurements. Ratios of predictions decide; absolute times vary by machine.
#include <array>
#include <cstddef>

#include "lanewise/choice.hpp"
#include "lanewise/waves.hpp"

namespace lanewise {

// Microseconds. A hop is one of the 2(n-1) steps from rank to rank. Ring pays hop_us + waves *
// wave_us in each of its hops; Tree pays hop_us in each and every wave once.
struct LatencyTerms {
  double base_us = 0;
  double hop_us = 0;
  double wave_us = 0;
  double us_per_kib = 0;  // of the whole message: the links that all channels share
};

struct LatencyConstants {
  LatencyTerms tree_ll;
  LatencyTerms tree_simple;
  LatencyTerms ring_ll;
  LatencyTerms ring_simple;
};

// Fitted to data/allreduce_h200x2.csv: 2, 4 and 8 ranks over host memory.
[[nodiscard]] const LatencyConstants& measured_constants() noexcept;

// Microseconds; meaningful only for entries with is_modelled().
[[nodiscard]] double predicted_us(const Choice& choice, std::size_t bytes,
                                  const Communicator& communicator,
                                  const LatencyConstants& constants) noexcept;

}  // namespace lanewise
