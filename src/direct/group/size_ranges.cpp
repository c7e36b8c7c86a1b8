// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/size_ranges.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "direct/kernel_plan.hpp"

namespace lanewise::direct {
namespace {

// More than anybody measured a gain for, and what a slot set of pinned memory may hold.
constexpr std::size_t largest_allowed = std::size_t{8} << 20;

[[noreturn]] void reject(std::string_view entry) {
  throw Error(
      "LANEWISE_DIRECT: \"" + std::string(entry) +
      "\": expected [RANKS=]LO:HI[:FORM] with 2 to 16 ranks, bytes up to 8388608 and a form "
      "of one-shot-ll, one-shot-simple or two-shot");
}

std::size_t parse_number(std::string_view word, std::string_view entry) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) reject(entry);
  return value;
}

SizeRange parse_entry(std::string_view entry) {
  SizeRange range;
  std::string_view rest = entry;
  if (const auto equals = rest.find('='); equals != std::string_view::npos) {
    const std::size_t ranks = parse_number(rest.substr(0, equals), entry);
    if (ranks < 2 || ranks > most_ranks) reject(entry);
    range.ranks = static_cast<int>(ranks);
    rest.remove_prefix(equals + 1);
  }
  const auto first = rest.find(':');
  if (first == std::string_view::npos) reject(entry);
  const auto second = rest.find(':', first + 1);
  range.lowest = parse_number(rest.substr(0, first), entry);
  range.highest = parse_number(rest.substr(first + 1, second - first - 1), entry);
  if (second != std::string_view::npos) {
    range.form = parse_form(rest.substr(second + 1));
    if (!range.form) reject(entry);
  }
  if (range.lowest > range.highest || range.highest == 0 || range.highest > largest_allowed)
    reject(entry);
  return range;
}

bool serves(const SizeRange& range, int ranks) noexcept {
  return range.ranks == 0 || range.ranks == ranks;
}

}  // namespace

std::vector<SizeRange> parse_size_ranges(std::string_view text) {
  std::vector<SizeRange> ranges;
  while (true) {
    const auto comma = text.find(',');
    ranges.push_back(parse_entry(text.substr(0, comma)));
    if (comma == std::string_view::npos) return ranges;
    text.remove_prefix(comma + 1);
  }
}

std::string format_size_ranges(const std::vector<SizeRange>& ranges) {
  std::string text;
  for (const SizeRange& range : ranges) {
    if (!text.empty()) text += ',';
    if (range.ranks != 0) text += std::to_string(range.ranks) + '=';
    text += std::to_string(range.lowest) + ':' + std::to_string(range.highest);
    if (range.form) text.append(":").append(name_of(*range.form));
  }
  return text;
}

const SizeRange* find_range(const std::vector<SizeRange>& ranges, std::size_t bytes,
                            int ranks) noexcept {
  for (const SizeRange& range : ranges) {
    if (serves(range, ranks) && bytes >= range.lowest && bytes <= range.highest) return &range;
  }
  return nullptr;
}

std::size_t largest_size(const std::vector<SizeRange>& ranges, int ranks) noexcept {
  std::size_t largest = 0;
  for (const SizeRange& range : ranges) {
    if (serves(range, ranks)) largest = std::max(largest, range.highest);
  }
  return largest;
}

}  // namespace lanewise::direct
