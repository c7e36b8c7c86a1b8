// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Measured rules: for a range of sizes, the choice that beat stock, with its evidence.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lanewise/choice.hpp"

namespace lanewise {

// Both ends are part of the range; they are sizes that were measured.
struct ByteRange {
  std::size_t low = 0;
  std::size_t high = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// Times in microseconds; speedup is stock over choice, ci95 its bootstrap interval.
struct Rule {
  ByteRange bytes;
  Choice choice;
  double stock_us = 0;
  double us = 0;
  double speedup = 0;
  double ci95_low = 0;
  double ci95_high = 0;
  int samples = 0;
  friend bool operator==(const Rule&, const Rule&) = default;
};

// Rules in order of size, never overlapping. Throws Error where they do or a range is inverted.
class RuleSet {
 public:
  RuleSet() = default;
  explicit RuleSet(std::vector<Rule> rules);

  // The rule whose range holds `bytes`; nullptr where nothing was measured.
  [[nodiscard]] const Rule* find(std::size_t bytes) const noexcept;
  [[nodiscard]] std::span<const Rule> rules() const noexcept { return rules_; }
  friend bool operator==(const RuleSet&, const RuleSet&) = default;

 private:
  std::vector<Rule> rules_;
};

}  // namespace lanewise
