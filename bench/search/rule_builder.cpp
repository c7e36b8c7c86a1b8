// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rule_builder.hpp"

#include <utility>
#include <vector>

#include "core/decision/wave_policy.hpp"
#include "core/error.hpp"

namespace lanewise {
namespace {

bool has_gain(const MeasuredSize& size) {
  return size.choice && judge(size.ratio, gain_limit) == Verdict::better;
}

bool has_no_gain(const MeasuredSize& size) {
  return size.choice && size.ratio.samples > 0 && !has_gain(size) &&
         size.ratio.high < WavePolicy::least_gain;
}

Rule make_rule(const MeasuredSize& size, ByteRange bytes) {
  return {bytes,          *size.choice,    size.stock_us,     size.us, size.ratio.median,
          size.ratio.low, size.ratio.high, size.ratio.samples};
}

}  // namespace

RuleSet build_rules(std::span<const MeasuredSize> sizes) {
  std::vector<Rule> rules;
  std::vector<std::size_t> stock_sizes;
  const MeasuredSize* previous = nullptr;  // the last measured size, whatever it showed
  for (const MeasuredSize& size : sizes) {
    if (previous != nullptr && size.bytes <= previous->bytes)
      throw Error("rules: expected measured sizes in ascending order");
    const bool joins = has_gain(size) && previous != nullptr && has_gain(*previous) &&
                       *size.choice == *previous->choice &&
                       size.bytes <= previous->bytes * widest_gap;
    previous = &size;
    if (has_no_gain(size)) stock_sizes.push_back(size.bytes);
    if (!has_gain(size)) continue;
    if (!joins) {
      rules.push_back(make_rule(size, {size.bytes, size.bytes}));
      continue;
    }
    const ByteRange bytes{rules.back().bytes.low, size.bytes};
    if (size.ratio.low < rules.back().ci95_low) rules.back() = make_rule(size, bytes);
    rules.back().bytes = bytes;
  }
  return RuleSet(std::move(rules), std::move(stock_sizes));
}

}  // namespace lanewise
