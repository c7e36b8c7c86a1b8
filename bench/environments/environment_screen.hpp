// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Screens environments, each in fresh ranks, against stock in the environment as the user has it:
// for tune, before any environment is swept in full.
#include <functional>
#include <string>
#include <vector>

#include "comparison/comparison.hpp"
#include "environment_options.hpp"
#include "ranks/machine.hpp"
#include "search/environment_search.hpp"

namespace lanewise::bench {

struct ScreenOptions {
  RankOptions ranks;
  TimingOptions timing;
  std::vector<std::size_t> sizes;  // of a full sweep, ascending: three of them are screened
  DataType type = DataType::bf16;
  long long memory_limit_bytes = 0;  // a rank may take this beyond stock's environment
  std::vector<Environment> given;    // to screen instead of the search's own; empty: those
  std::string graph_file;            // an NCCL_GRAPH_FILE to try; empty: none
  double budget_s = 30;
  std::string inject_in;  // "NAME=VALUE": RankOptions::inject only in environments with that
};

// Takes over what the user said. Throws Error where that cannot be read.
void apply(const EnvironmentOptions& said, ScreenOptions& options);

struct ScreenOutcome {
  std::vector<Screening> screenings;  // in order
  std::vector<Screening> worthwhile;  // fastest first
  std::vector<UnsafeSetting> unsafe;
  bool is_complete = false;  // false: the budget ended the search
};

// Throws RankFailure where stock itself fails.
[[nodiscard]] ScreenOutcome screen_environments(
    const Machine& machine, const ScreenOptions& options,
    const std::function<void(const Screening&)>& report);

}  // namespace lanewise::bench
