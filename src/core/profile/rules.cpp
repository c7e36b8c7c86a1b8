// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/rules.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace lanewise {

bool is_unsafe(std::span<const UnsafeChoice> unsafe, const Choice& choice) noexcept {
  return std::any_of(unsafe.begin(), unsafe.end(), [&](const UnsafeChoice& known) {
    return known.choice.algorithm == choice.algorithm && known.choice.protocol == choice.protocol &&
           (choice.channels == 0 || choice.channels >= known.choice.channels);
  });
}

RuleSet::RuleSet(std::vector<Rule> rules, std::vector<std::size_t> stock_sizes)
    : rules_(std::move(rules)), stock_sizes_(std::move(stock_sizes)) {
  std::sort(rules_.begin(), rules_.end(),
            [](const Rule& a, const Rule& b) { return a.bytes.low < b.bytes.low; });
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const auto& bytes = rules_[i].bytes;
    if (bytes.high < bytes.low)
      throw Error("rule for " + std::to_string(bytes.low) + " to " + std::to_string(bytes.high) +
                  " bytes: expected the lower end first");
    if (i > 0 && bytes.low <= rules_[i - 1].bytes.high)
      throw Error("rules overlap at " + std::to_string(bytes.low) +
                  " bytes: expected each size in one rule at most");
  }
  std::sort(stock_sizes_.begin(), stock_sizes_.end());
  for (const std::size_t bytes : stock_sizes_)
    if (find(bytes) != nullptr)
      throw Error("a rule and stock at " + std::to_string(bytes) + " bytes: expected one of them");
}

bool RuleSet::keeps_stock(std::size_t bytes) const noexcept {
  return std::binary_search(stock_sizes_.begin(), stock_sizes_.end(), bytes);
}

RuleSet RuleSet::within(int most_channels) const {
  RuleSet left = *this;
  std::erase_if(left.rules_, [&](const Rule& rule) {
    return rule.choice.channels == 0 || rule.choice.channels > most_channels;
  });
  return left;
}

const Rule* RuleSet::find(std::size_t bytes) const noexcept {
  const auto after =
      std::upper_bound(rules_.begin(), rules_.end(), bytes,
                       [](std::size_t size, const Rule& rule) { return size < rule.bytes.low; });
  if (after == rules_.begin()) return nullptr;
  const Rule& rule = *std::prev(after);
  return bytes <= rule.bytes.high ? &rule : nullptr;
}

}  // namespace lanewise
