// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The plugin's policy: a measured rule where there is one, else the wave model, else no answer.
// Remembers its answers per size and prices; the memory never changes an answer.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lanewise/policy.hpp"
#include "lanewise/policy_inputs.hpp"
#include "lanewise/wave_policy.hpp"

namespace lanewise {

class CompositePolicy final : public Policy {
 public:
  explicit CompositePolicy(const PolicyInputs& inputs);

  [[nodiscard]] std::optional<Decision> decide(const Query& query,
                                               const CostTable& table) noexcept override;
  // The same answer without the memory.
  [[nodiscard]] std::optional<Decision> answer(const Query& query, const CostTable& table) noexcept;
  [[nodiscard]] const WavePolicy& model() const noexcept { return model_; }

 private:
  // An answer and everything it depends on.
  struct alignas(64) Remembered {  // one cache line
    std::uint64_t bytes = 0;
    std::array<std::uint64_t, 3> prices{};
    int pipe_ops = never;
    std::optional<Decision> decision;
  };
  static constexpr int never = -1;
  // One slot a size; sizes that share a slot drive each other out. 16 KiB of memory.
  static constexpr int slot_bits = 8;

  [[nodiscard]] std::optional<Decision> measured(const Query& query,
                                                 const CostTable& table) const noexcept;
  [[nodiscard]] std::optional<Decision> answer_anew(const Query& query, const CostTable& table,
                                                    Remembered& slot) noexcept;

  PolicyInputs inputs_;
  WavePolicy model_;
  // NCCL asks for one communicator from one thread at a time, so this needs no lock.
  std::array<Remembered, std::size_t{1} << slot_bits> slots_{};
};

}  // namespace lanewise
