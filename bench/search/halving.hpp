// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What to measure next in a tune, given all measurements so far: successive halving (Karnin, Koren,
// Somekh 2013) of each size's candidates, then fresh rounds of the one that is left against stock
// (the neighbours' one where it is as good, see common_choices.hpp).
// A value: deterministic, without clock or random device; callers measure and report back.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/nccl/choice.hpp"
#include "core/statistics.hpp"
#include "rule_builder.hpp"

namespace lanewise {

struct CandidateSet {
  std::size_t bytes = 0;
  std::vector<Choice> choices;
};

// confirming: only these rounds become evidence. The winner of many noisy candidates looks better
// than it is in the rounds that it won.
enum class Phase : std::uint8_t { screening, confirming };

// One round: these choices in random order, stock at least twice among them.
struct RoundPlan {
  std::size_t size = 0;  // index into the candidate sets
  std::size_t bytes = 0;
  Phase phase = Phase::screening;
  std::vector<Choice> choices;
  friend bool operator==(const RoundPlan&, const RoundPlan&) = default;
};

// Microseconds of the slowest rank; `us` in the plan's order. `seconds`: what the round cost, with
// its preparations.
struct RoundResult {
  std::vector<double> stock_us;
  std::vector<double> us;
  double seconds = 0;
};

class Halving {
 public:
  // Sizes ascending; a size without choices is never measured. Throws Error for sizes out of order
  // or a budget that is not above zero.
  Halving(std::span<const CandidateSet> sizes, double budget_seconds);

  // Nullopt: all sizes are decided, or the budget is spent.
  [[nodiscard]] std::optional<RoundPlan> next() const;
  // Throws Error where the result does not fit the plan, has no stock or a time not above zero.
  void record(const RoundPlan& plan, const RoundResult& result);

  // What is known now, one a size, for build_rules. A size still being screened has no samples.
  [[nodiscard]] std::vector<MeasuredSize> results() const;
  // First over second reading of stock in each round: their median is 1 on a sound machine, and
  // relative_spread of them is the noise that everything else is judged against.
  [[nodiscard]] std::span<const double> stock_ratios() const noexcept { return stock_ratios_; }
  // Of the budget, 0 to 1, for a progress bar; 1 where all is decided.
  [[nodiscard]] double progress() const;

 private:
  struct Entry {
    Choice choice;
    std::vector<double> ratios;
  };
  struct Size {
    std::size_t bytes = 0;
    std::vector<Entry> arms;     // still in the running, best first after each stage
    std::vector<Entry> dropped;  // with what was measured of them
    Phase phase = Phase::screening;
    bool is_decided = false;
    int stage = 0;
    int rounds = 0;                // of this stage
    std::vector<double> stock_us;  // of confirming rounds, as are the next two
    std::vector<double> us;
    std::vector<double> ratios;
  };

  [[nodiscard]] bool is_before(const Size& a, const Size& b) const;
  [[nodiscard]] int stage_rounds() const;
  void screen(Size& size);
  void confirm(Size& size);
  void end_screening();
  void agree_on_choices();

  std::vector<Size> sizes_;
  double budget_seconds_;
  double spent_seconds_ = 0;
  double repeat_seconds_ = 0;  // of rounds that needed no preparation
  double repeat_readings_ = 0;
  std::vector<double> stock_ratios_;
  bool has_agreed_ = false;
};

}  // namespace lanewise
