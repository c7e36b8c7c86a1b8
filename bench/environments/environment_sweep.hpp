// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Both layers of a tune: an environment swept in full, and the search for a faster one that is
// then swept too and held against stock.
#include <memory>
#include <string>

#include "comparison/tuner.hpp"
#include "environment_screen.hpp"

namespace lanewise::bench {

struct SweptEnvironment {
  std::unique_ptr<RankGroup> rank_group;  // still running
  TunedEnvironment tuned;                 // speedup over stock in this same environment
  TuneOutcome outcome;
};

// Fresh ranks with `variables` beside the process's own. Throws RankFailure.
[[nodiscard]] SweptEnvironment sweep_environment(const Machine& machine, const RankOptions& ranks,
                                                 const Environment& variables, DataType type,
                                                 const TuneRequest& request);

// Screens, sweeps the fastest environment in full and adds it to `profile` with its gain over stock
// in the environment of `base`; it becomes the best where it gains on the base's and is slower than
// that stock at no size. What hangs, fails or sums wrongly is added as unsafe. Prints what it does.
void tune_environments(Profile& profile, const Machine& machine, const ScreenOptions& screen,
                       const TuneRequest& request, SweptEnvironment& base);

void show_screening(const Screening& screening);

}  // namespace lanewise::bench
