// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The rows of NVIDIA's example tuner and what of them a profile can say, both ways. In that tuner
// the first row that fits a call wins.
#include <optional>
#include <span>
#include <vector>

#include "core/nccl/choice.hpp"
#include "core/nccl/collective.hpp"
#include "core/profile/profile.hpp"
#include "core/profile/rules.hpp"

namespace lanewise {

// Nullopt fits any value; choice.channels 0 leaves them to NCCL. Both ends of `bytes` belong to it.
struct TunerRow {
  Collective collective = Collective::all_reduce;
  ByteRange bytes;
  Choice choice;
  std::optional<int> nodes;
  std::optional<int> ranks;
  std::optional<int> pipe_ops;
  std::optional<bool> is_registered;
  int line = 0;  // of its file; 0: of none
  friend bool operator==(const TunerRow&, const TunerRow&) = default;
};

struct RowRules {
  RuleSet rules;                   // without evidence: samples 0
  std::vector<int> ignored_lines;  // of other collectives, nodes or ranks, or for some calls alone
};

// What the rows say of every all-reduce of `ranks` ranks on one node. Where rows overlap, the first
// has the bytes. A row for certain pipe_ops or registered buffers is ignored: a rule knows neither.
[[nodiscard]] RowRules rules_of(std::span<const TunerRow> rows, int ranks);

// One row a rule. The rows cannot say which GPUs: throws Error where two groups of one environment
// have the same number of ranks.
[[nodiscard]] std::vector<TunerRow> rows_of(const TunedEnvironment& environment);

}  // namespace lanewise
