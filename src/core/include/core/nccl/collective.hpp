// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The collectives NCCL asks a tuner about, in NCCL's order.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanewise {

enum class Collective : std::uint8_t { broadcast, reduce, all_gather, reduce_scatter, all_reduce };

inline constexpr std::array<std::string_view, 5> collective_names = {
    "broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce"};

[[nodiscard]] constexpr std::string_view name_of(Collective collective) noexcept {
  return collective_names[static_cast<std::size_t>(collective)];
}
[[nodiscard]] constexpr std::optional<Collective> parse_collective(std::string_view word) noexcept {
  for (std::size_t i = 0; i < collective_names.size(); ++i)
    if (collective_names[i] == word) return static_cast<Collective>(i);
  return std::nullopt;
}

}  // namespace lanewise
