// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A view of the prices that NCCL hands to a tuner, in microseconds. Only the pricing call's
// duration is covered: the memory is NCCL's. This class is the one place that writes to it.
#include <cstddef>
#include <optional>

#include "lanewise/choice.hpp"

namespace lanewise {

class CostTable {
 public:
  CostTable() noexcept = default;
  // `prices` is row-major [algorithms][protocols]; rows NCCL's release lacks read as not priced.
  CostTable(float* prices, std::size_t algorithms, std::size_t protocols) noexcept
      : prices_(prices), algorithms_(algorithms), protocols_(protocols) {}

  [[nodiscard]] bool is_empty() const noexcept { return prices_ == nullptr; }

  // Nullopt where NCCL forbids the entry (any negative price: fp8 scales -1 to -1024) or has none.
  [[nodiscard]] std::optional<float> price(Algorithm algorithm, Protocol protocol) const noexcept {
    const float* entry = find(algorithm, protocol);
    if (entry == nullptr || !(*entry >= 0.0F)) return std::nullopt;
    return *entry;
  }

  // The entry NCCL takes if nobody changes the table: the cheapest, first one on a tie.
  [[nodiscard]] std::optional<Choice> stock_pick() const noexcept;

  // Makes the entry NCCL's pick; false, and nothing written, where NCCL forbids it.
  [[nodiscard]] bool prefer(Algorithm algorithm, Protocol protocol) noexcept;

 private:
  [[nodiscard]] float* find(Algorithm algorithm, Protocol protocol) const noexcept {
    const auto row = static_cast<std::size_t>(algorithm);
    const auto column = static_cast<std::size_t>(protocol);
    if (prices_ == nullptr || row >= algorithms_ || column >= protocols_) return nullptr;
    return prices_ + row * protocols_ + column;
  }

  float* prices_ = nullptr;
  std::size_t algorithms_ = 0;
  std::size_t protocols_ = 0;
};

}  // namespace lanewise
