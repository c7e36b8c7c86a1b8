// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Finds the best choice at each size of one rank_group's communicator, within a budget, by
// successive halving; for tune and for the search over environments.
#include <cstdint>
#include <vector>

#include "choice_survey.hpp"
#include "core/model/fit.hpp"
#include "ranks/rank_group.hpp"
#include "search/rule_builder.hpp"

namespace lanewise::bench {

struct TuneRequest {
  std::vector<std::size_t> sizes;  // ascending
  // Held against stock in an environment before it is anybody's best: it is a server's for all that
  // it sends, and no rule is about prefill.
  std::vector<std::size_t> prefill_sizes;
  double budget_s = 60;
  // Of the model's order: the eight best and the best of each kind hold the winner in all of
  // data/allreduce_h200x2.csv.
  std::size_t keep = 8;
  std::uint64_t seed = 1;
  std::vector<UnsafeChoice> unsafe;  // by an earlier tune: not tried again
  int soak_calls = 0;                // of each LL128 candidate; 0: LL128 is left out
};

struct TuneOutcome {
  std::vector<MeasuredSize> sizes;   // for build_rules
  std::vector<MeasuredTime> times;   // of every choice that was right, for a fit of the model
  std::vector<std::string> faults;   // wrong sums, in words
  std::vector<UnsafeChoice> unsafe;  // in which ranks hung or died
  bool is_ll128_verified = false;    // soaked at every size without a wrong sum
  double noise = 0;                  // relative_spread of stock against itself; 0 without readings
  int rounds = 0;
};

// The rank_group has the plugin and buffers for the largest size. Throws RankFailure where
// stock itself fails.
[[nodiscard]] TuneOutcome tune_choices(RankGroup& rank_group, const ChoiceSurvey& survey,
                                       const TuneRequest& request);

}  // namespace lanewise::bench
