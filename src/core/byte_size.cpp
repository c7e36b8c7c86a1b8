// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/byte_size.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace lanewise {
namespace {

struct Unit {
  std::string_view name;
  unsigned shift;
};
constexpr std::array units = {Unit{"", 0},     Unit{"K", 10}, Unit{"KiB", 10}, Unit{"M", 20},
                              Unit{"MiB", 20}, Unit{"G", 30}, Unit{"GiB", 30}};

}  // namespace

std::optional<std::size_t> parse_byte_size(std::string_view text) noexcept {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const auto suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != suffix) continue;
    if (number > std::numeric_limits<std::size_t>::max() >> unit.shift) return std::nullopt;
    return number << unit.shift;
  }
  return std::nullopt;
}

}  // namespace lanewise
