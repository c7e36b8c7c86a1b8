// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The plugin's policy: a measured rule where there is one, no answer where nothing was measured to
// beat stock, else the wave model's, if it has one. It never changes once made: the same call gets
// the same answer; the plugin remembers them (plugin/answer_cache.hpp).
#include <optional>
#include <string_view>

#include "core/decision/decision.hpp"
#include "core/decision/policy_inputs.hpp"
#include "core/decision/wave_policy.hpp"
#include "core/nccl/cost_table.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {

class Policy {
 public:
  // Throws std::bad_alloc and nothing else. Where nothing can be decided it never answers.
  explicit Policy(const PolicyInputs& inputs);

  // No answer means that NCCL keeps its own choice. An empty table (tuner v2) is allowed. Never
  // allocates or locks.
  [[nodiscard]] std::optional<Decision> decide(const Query& query,
                                               const CostTable& table) const noexcept;

 private:
  [[nodiscard]] std::optional<Decision> measured(const Query& query,
                                                 const CostTable& table) const noexcept;

  PolicyInputs inputs_;
  WavePolicy model_;
};

// Adds what the matched group measured, if there is one.
void add_group(PolicyInputs& inputs, const ProfileMatch& match);

// Why a policy made from these inputs never answers, one line for the log; nullopt if it may.
[[nodiscard]] std::optional<std::string_view> inert_reason(const PolicyInputs& inputs) noexcept;

}  // namespace lanewise
