// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "lanewise/rules.hpp"

#include <algorithm>
#include <string>

#include "lanewise/error.hpp"

namespace lanewise {

RuleSet::RuleSet(std::vector<Rule> rules) : rules_(std::move(rules)) {
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
