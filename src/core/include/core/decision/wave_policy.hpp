// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The policy without a profile: the choice that the wave model predicts to beat what NCCL is about
// to do, whatever the communicator's channel count is among the plausible ones.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/decision/decision.hpp"
#include "core/decision/policy_inputs.hpp"
#include "core/model/latency.hpp"

namespace lanewise {

// Why the model answers or does not, for logs and `lanewise explain`.
enum class ModelReason : std::uint8_t {
  faster,         // predicted at least 10 % over stock
  stock_is_best,  // nothing admissible is predicted to gain 10 %
  nvlink,         // the costs say NVLink
  unknown_link,   // neither costs nor inputs exclude NVLink
  not_modelled,   // NCCL picks something that the model has no constants for
  outside_sizes,  // larger than what the constants were fitted to
  grouped,        // several operations share the channels
  mixed_gpus,     // GPU models differ
  no_costs,       // no table, and the environment restricts NCCL's choice
};
[[nodiscard]] std::string_view text_of(ModelReason reason) noexcept;

struct ModelVerdict {
  std::optional<Choice> choice;
  ModelReason reason = ModelReason::stock_is_best;
  // NCCL's pick with the channels it takes by itself at the fewest plausible channels, in stock's
  // environment where the base environment is in force.
  std::optional<Choice> stock;
};

class WavePolicy {
 public:
  // The largest all-reduce in the data that the constants are fitted to.
  static constexpr std::size_t largest_bytes = std::size_t{4} << 20;
  // What a choice must win over stock in at least one plausible communicator.
  static constexpr double least_gain = 1.10;
  // The same for a switch to Simple or to another algorithm, in every plausible communicator: in
  // the data predictions of up to 1.17 for Simple came out between 0.95 and 1.08, those from 1.27
  // on between 1.27 and 1.7; Tree predicted at 1.01 to 1.28 came out at 0.90.
  static constexpr double least_clear_gain = 1.20;

  // From Simple to LL beyond these bytes, where LL's doubled bytes weigh: in every plausible
  // communicator on every plausible machine.
  static constexpr std::size_t largest_easy_ll = std::size_t{64} << 10;
  static constexpr double least_gain_of_large_ll = 1.30;

  // With constants of this machine's own: what a choice must win over stock, and more channels over
  // fewer. The number was chosen on every second size of two GPUs, each left out of its own fit.
  // That more channels must save waves, and that a fit holds for its sizes alone, was decided with
  // the other half in sight (bench/RESULTS.md); model_validation_test.cpp judges.
  static constexpr double least_fitted_gain = 1.08;

  explicit WavePolicy(const PolicyInputs& inputs);  // throws std::bad_alloc

  // For an all-reduce of the inputs' ranks on one node.
  [[nodiscard]] ModelVerdict verdict(const Query& query, const CostTable& table) const noexcept;

  // The machines that fit the inputs and what NCCL's costs tell; for one that it can run on.
  [[nodiscard]] PlausibleMachines plausible_machines(const Query& query,
                                                     const CostTable& table) const noexcept;

  [[nodiscard]] const LatencyConstants& constants(std::size_t bytes) const noexcept {
    return has_fit(bytes) ? inputs_.fit->constants : measured_constants(inputs_.sharing);
  }

  // The communicators that these inputs may belong to, fewest channels first; at least one.
  [[nodiscard]] std::span<const Communicator> plausible() const noexcept {
    return {plausible_.data(), plausible_count_};
  }

 private:
  [[nodiscard]] bool has_fit(std::size_t bytes) const noexcept {
    return inputs_.fit && inputs_.fit->covers(bytes);
  }
  [[nodiscard]] std::optional<ModelReason> objection(const Query& query,
                                                     const CostTable& table) const noexcept;
  struct Comparison;
  [[nodiscard]] Comparison compare(const std::optional<Choice>& stock, const Query& query,
                                   const CostTable& table) const noexcept;
  // Shorter pieces alone gain less than the fit's error.
  [[nodiscard]] bool saves_waves(const Choice& candidate, const Launch& launch,
                                 const Comparison& comparison,
                                 const Communicator& communicator) const noexcept;
  // The gain that ranks a candidate, as a logarithm: the mean over the plausible communicators.
  // Nullopt where the candidate is not admissible.
  [[nodiscard]] std::optional<double> score(const Choice& candidate,
                                            const Comparison& comparison) const noexcept;
  [[nodiscard]] std::optional<Choice> best(const Comparison& comparison,
                                           const CostTable& table) const noexcept;

  PolicyInputs inputs_;
  NcclLimits stock_limits_;
  // The same communicator in stock's environment, which the base environment is compared with.
  [[nodiscard]] Communicator as_stock(const Communicator& communicator) const noexcept;

  std::array<Communicator, 2> plausible_{};
  std::size_t plausible_count_ = 0;
};

}  // namespace lanewise
