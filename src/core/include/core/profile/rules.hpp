// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Measured rules: for a range of sizes, the choice that beat stock, with its evidence; and the
// sizes at which none did.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/nccl/choice.hpp"

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

// A choice in which ranks hung or died when it was measured, with what was seen: never made again.
struct UnsafeChoice {
  Choice choice;
  std::string evidence;
  friend bool operator==(const UnsafeChoice&, const UnsafeChoice&) = default;
};
// Whether it is one of them or has more channels than one, which nobody knows to be safer.
[[nodiscard]] bool is_unsafe(std::span<const UnsafeChoice> unsafe, const Choice& choice) noexcept;

// Rules and stock's sizes in order of size, never overlapping. Throws Error where they do or a
// range is inverted.
class RuleSet {
 public:
  RuleSet() = default;
  explicit RuleSet(std::vector<Rule> rules, std::vector<std::size_t> stock_sizes = {});

  // The rule whose range holds `bytes`; nullptr where nothing was measured.
  [[nodiscard]] const Rule* find(std::size_t bytes) const noexcept;
  [[nodiscard]] std::span<const Rule> rules() const& noexcept { return rules_; }
  [[nodiscard]] std::vector<Rule> rules() && noexcept { return std::move(rules_); }
  // Whether nothing beat NCCL's own choice at exactly this size: between two such sizes something
  // may, as NCCL is best at powers of two.
  [[nodiscard]] bool keeps_stock(std::size_t bytes) const noexcept;
  [[nodiscard]] std::span<const std::size_t> stock_sizes() const noexcept { return stock_sizes_; }
  // Without the rules that ask for more channels, or leave them to NCCL, whose number then changes.
  // Where stock was best it stays: it costs nothing.
  [[nodiscard]] RuleSet within(int most_channels) const;
  [[nodiscard]] bool is_empty() const noexcept { return rules_.empty() && stock_sizes_.empty(); }
  friend bool operator==(const RuleSet&, const RuleSet&) = default;

 private:
  std::vector<Rule> rules_;
  std::vector<std::size_t> stock_sizes_;
};

}  // namespace lanewise
