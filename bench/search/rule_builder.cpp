// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rule_builder.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/decision/wave_policy.hpp"
#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr std::size_t bytes_between_looks = 512;

bool has_gain(const MeasuredSize& size) {
  return size.choice && judge(size.ratio, gain_limit) == Verdict::better;
}

bool has_no_gain(const MeasuredSize& size) {
  return size.choice && size.ratio.samples > 0 && !has_gain(size) &&
         size.ratio.high < WavePolicy::least_gain;
}

bool is_same_shape(const Launch& a, const Launch& b) {
  return a.threads == b.threads && a.channels == b.channels && a.waves == b.waves;
}

// Also NCCL's own launch of the entry, and of Ring/LL, which is what it mostly takes: the gain is
// over that. NCCL's thresholds lie at multiples of some KiB, and its pieces are of 16 bytes.
bool is_launched_alike(const Choice& choice, ByteRange bytes, const Communicator& communicator) {
  if (!is_modelled(choice.algorithm, choice.protocol)) return false;
  const std::array all = {choice, Choice{choice.algorithm, choice.protocol, 0},
                          Choice{Algorithm::ring, Protocol::ll, 0}};
  return std::all_of(all.begin(), all.end(), [&](const Choice& one) {
    const Launch first = launch_of(one, bytes.low, communicator);
    for (std::size_t at = bytes.low; at < bytes.high; at += bytes_between_looks)
      if (!is_same_shape(launch_of(one, at, communicator), first)) return false;
    return is_same_shape(launch_of(one, bytes.high, communicator), first);
  });
}

Rule make_rule(const MeasuredSize& size, ByteRange bytes) {
  return {bytes,          *size.choice,    size.stock_us,     size.us, size.ratio.median,
          size.ratio.low, size.ratio.high, size.ratio.samples};
}

}  // namespace

RuleSet build_rules(std::span<const MeasuredSize> sizes, const Communicator& communicator) {
  std::vector<Rule> rules;
  std::vector<std::size_t> stock_sizes;
  const MeasuredSize* previous = nullptr;  // the last measured size, whatever it showed
  for (const MeasuredSize& size : sizes) {
    if (previous != nullptr && size.bytes <= previous->bytes)
      throw Error("rules: expected measured sizes in ascending order");
    const bool joins = has_gain(size) && previous != nullptr && has_gain(*previous) &&
                       *size.choice == *previous->choice &&
                       is_launched_alike(*size.choice, {previous->bytes, size.bytes}, communicator);
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
