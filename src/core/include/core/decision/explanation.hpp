// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One call explained: what NCCL does by itself, what Lanewise does, and why. For people; the
// decision is the plugin's.
#include <optional>
#include <string>

#include "core/decision/decision.hpp"
#include "core/decision/policy_inputs.hpp"
#include "core/model/waves.hpp"

namespace lanewise {

// Over all machines that fit what is known, the fit's own error included.
struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// `waves` and times only where the model knows the algorithm and protocol.
struct ExplainedChoice {
  Choice choice;  // with the channels really used
  std::optional<int> waves;
  std::optional<double> predicted_us;  // on the likeliest machine
  std::optional<Interval> interval_us;
};

struct Explanation {
  std::optional<ExplainedChoice> stock;   // nullopt: NCCL priced nothing
  std::optional<ExplainedChoice> chosen;  // nullopt: NCCL keeps its own
  std::optional<Interval> gain;           // predicted, of the choice over stock on one machine
  Source source = Source::none;
  std::string reason;  // one line
  // The costs imply less than any link has: they are those of a search that found no ring.
  bool has_absurd_costs = false;
};

// `communicator` is what NCCL really has; the policy is not told its channels, as in the plugin.
[[nodiscard]] Explanation explain(const PolicyInputs& inputs, const Query& query,
                                  const CostTable& table, const Communicator& communicator);

}  // namespace lanewise
