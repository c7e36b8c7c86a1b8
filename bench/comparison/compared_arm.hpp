// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One arm of a comparison at one size: whose ranks run it, what was found of it, and its times.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arms.hpp"
#include "candidate.hpp"
#include "core/statistics.hpp"

namespace lanewise::bench {

struct ComparedArm {
  RankGroup* rank_group = nullptr;
  Candidate candidate;
  Verification verification = {};
  bool is_out = false;              // wrong sums, refused or failed: no longer timed
  std::string failure = {};         // its ranks hung or died in it: how, in words
  int prepared_in = 0;              // the start of its ranks that has built it
  std::vector<double> us = {};      // one a round
  std::vector<double> ratios = {};  // stock over this one, one a round
  // Medians of the ratios in other communicators whose comparisons were absorbed.
  std::vector<double> medians_elsewhere = {};
  std::size_t rounds_here = 0;  // of `ratios`, those of this comparison's own communicator

  // Nothing for an arm that was never timed.
  [[nodiscard]] std::optional<Estimate> time() const;
  [[nodiscard]] std::optional<Estimate> ratio() const;
  // better: above gain_limit for sure; worse: below never_worse_limit for sure.
  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] bool is_usable() const { return verification.is_usable() && failure.empty(); }
};

// The plugin standing aside, which compare shows to be level with stock; and one choice.
[[nodiscard]] ComparedArm stock_arm(RankGroup& rank_group);
[[nodiscard]] ComparedArm choice_arm(RankGroup& rank_group, const Choice& choice);
// One for each arm of the set.
[[nodiscard]] std::vector<ComparedArm> arms_at(std::size_t bytes, const ArmSet& arm_set);

// What has failed, by name, with its evidence: it is left out from then on, at other sizes too, as
// each try would cost another time-out.
using Failures = std::map<std::string, std::string>;

}  // namespace lanewise::bench
