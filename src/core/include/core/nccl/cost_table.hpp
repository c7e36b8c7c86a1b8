// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A view of the costs that NCCL hands to a tuner, in microseconds. Only the pricing call's
// duration is covered: the memory is NCCL's. This class is the one place that writes to it.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "core/nccl/choice.hpp"

namespace lanewise {

class CostTable {
 public:
  CostTable() noexcept = default;
  // `costs` is row-major [algorithms][protocols]; rows NCCL's release lacks read as not priced.
  CostTable(float* costs, std::size_t algorithms, std::size_t protocols) noexcept
      : costs_(costs), algorithms_(algorithms), protocols_(protocols) {}

  [[nodiscard]] bool is_empty() const noexcept { return costs_ == nullptr; }

  // Nullopt where NCCL forbids the entry (any negative cost: fp8 scales -1 to -1024) or has none.
  [[nodiscard]] std::optional<float> cost(Algorithm algorithm, Protocol protocol) const noexcept {
    const float* entry = find(algorithm, protocol);
    if (entry == nullptr || std::signbit(*entry) || !(*entry >= 0.0F)) return std::nullopt;
    return *entry;
  }

  // True where the table has the shape of NCCL 2.23 and later and costs Tree and Ring alone, as
  // on every machine without NVSwitch. Equal bits() mean equal costs then.
  [[nodiscard]] bool is_tree_and_ring_only() const noexcept {
    constexpr std::size_t first = 2 * protocol_count;
    constexpr std::size_t last = algorithm_count * protocol_count - 1;
    constexpr std::uint64_t signs = 0x8000000080000000U;
    if (costs_ == nullptr || algorithms_ != algorithm_count || protocols_ != protocol_count)
      return false;
    // On every call: two costs at a time, without a branch.
    std::uint64_t all = signs;
    for (std::size_t i = first; i < last; i += 2) all &= pair_at(i);
    return all == signs && std::signbit(costs_[last]);
  }
  // The six costs of Tree and Ring. Only where is_tree_and_ring_only().
  [[nodiscard]] std::array<std::uint64_t, 3> bits() const noexcept {
    std::array<std::uint64_t, 3> bits;
    std::memcpy(bits.data(), costs_, sizeof bits);
    return bits;
  }
  [[nodiscard]] bool has_bits(const std::array<std::uint64_t, 3>& others) const noexcept {
    return pair_at(0) == others[0] && pair_at(2) == others[1] && pair_at(4) == others[2];
  }

  // The entry NCCL takes if nobody changes the table: the cheapest, first one on a tie.
  [[nodiscard]] std::optional<Choice> stock_pick() const noexcept;

  // Makes the entry NCCL's pick; false, and nothing written, where NCCL forbids it.
  [[nodiscard]] bool prefer(Algorithm algorithm, Protocol protocol) noexcept {
    if (!cost(algorithm, protocol)) return false;
    prefer_again(algorithm, protocol);
    return true;
  }
  // Only where prefer() said yes at these costs, which is not looked at again.
  void prefer_again(Algorithm algorithm, Protocol protocol) noexcept {
    costs_[static_cast<std::size_t>(algorithm) * protocols_ + static_cast<std::size_t>(protocol)] =
        0.0F;
  }

 private:
  [[nodiscard]] std::uint64_t pair_at(std::size_t index) const noexcept {
    std::uint64_t pair = 0;
    std::memcpy(&pair, costs_ + index, sizeof pair);
    return pair;
  }

  [[nodiscard]] float* find(Algorithm algorithm, Protocol protocol) const noexcept {
    const auto row = static_cast<std::size_t>(algorithm);
    const auto column = static_cast<std::size_t>(protocol);
    if (costs_ == nullptr || row >= algorithms_ || column >= protocols_) return nullptr;
    return costs_ + row * protocols_ + column;
  }

  float* costs_ = nullptr;
  std::size_t algorithms_ = 0;
  std::size_t protocols_ = 0;
};

}  // namespace lanewise
