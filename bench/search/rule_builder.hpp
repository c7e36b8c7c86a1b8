// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// From what was measured at each size to rules: only where the gain is beyond doubt, never past a
// measured size; and to the sizes where stock is beyond doubt as good.
#include <cstddef>
#include <optional>
#include <span>

#include "core/model/waves.hpp"
#include "core/nccl/choice.hpp"
#include "core/profile/rules.hpp"
#include "core/statistics.hpp"

namespace lanewise {

// `ratio`: stock over choice, paired inside rounds. `stock_us` and `us`: medians of the rounds
// that `ratio` is of. No choice: nothing could be measured against stock here.
struct MeasuredSize {
  std::size_t bytes = 0;
  std::optional<Choice> choice;
  Estimate ratio;
  double stock_us = 0;
  double us = 0;
  friend bool operator==(const MeasuredSize&, const MeasuredSize&) = default;
};

// One rule for each run of neighbouring sizes that gain (judge(ratio, gain_limit) is better) with
// the same choice, and between which nothing changes in how NCCL launches the choice or its own: a
// rule reaches from one measured size to the next only where threads, channels and waves are the
// same at all sizes between. Its evidence is the weakest size's of the run.
// Stock's sizes: those without a gain whose interval ends below what the wave model must promise
// (WavePolicy::least_gain), so that the model does not speak where it was measured to be wrong.
// Throws Error where sizes are not ascending.
[[nodiscard]] RuleSet build_rules(std::span<const MeasuredSize> sizes,
                                  const Communicator& communicator);

}  // namespace lanewise
