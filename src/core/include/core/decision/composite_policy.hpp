// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The plugin's policy: a measured rule where there is one, no answer where nothing was measured to
// beat stock, else the wave model's, if it has one.
// It remembers nothing: the plugin does (plugin/answer_cache.hpp).
#include <optional>

#include "core/decision/policy.hpp"
#include "core/decision/policy_inputs.hpp"
#include "core/decision/wave_policy.hpp"

namespace lanewise {

class CompositePolicy final : public Policy {
 public:
  explicit CompositePolicy(const PolicyInputs& inputs);

  [[nodiscard]] std::optional<Decision> decide(const Query& query,
                                               const CostTable& table) noexcept override;
  [[nodiscard]] const WavePolicy& model() const noexcept { return model_; }

 private:
  [[nodiscard]] std::optional<Decision> measured(const Query& query,
                                                 const CostTable& table) const noexcept;

  PolicyInputs inputs_;
  WavePolicy model_;
};

}  // namespace lanewise
