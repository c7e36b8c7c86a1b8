// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The model's constants from measured times, as scripts/fit_waves.py finds them: weighted least
// squares on the relative error, no term below zero.
#include <optional>
#include <span>

#include "core/model/latency.hpp"

namespace lanewise {

struct MeasuredTime {
  Choice choice;  // its channels as they were asked for, 0: NCCL's own
  std::size_t bytes = 0;
  Communicator communicator;
  double us = 0;
};

// Of the times of one algorithm and protocol, all with GPUs shared alike. A term that the times do
// not tell from others, as the hops where all have the same ranks, is zero. Nullopt for fewer times
// than terms.
[[nodiscard]] std::optional<LatencyTerms> fit_terms(std::span<const MeasuredTime> times);

// Of the times of one communicator; what the model does not know is passed over. Throws Error where
// one of Tree and Ring with LL and Simple has too few.
[[nodiscard]] MachineFit fit_machine(std::span<const MeasuredTime> times);

}  // namespace lanewise
