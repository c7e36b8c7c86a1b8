// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/cost_table.hpp"

namespace lanewise {

std::optional<Choice> CostTable::stock_pick() const noexcept {
  std::optional<Choice> best;
  float best_cost = 0;
  for (std::size_t row = 0; row < algorithms_ && row < algorithm_count; ++row) {
    for (std::size_t column = 0; column < protocols_ && column < protocol_count; ++column) {
      const auto algorithm = static_cast<Algorithm>(row);
      const auto protocol = static_cast<Protocol>(column);
      const auto entry = cost(algorithm, protocol);
      if (!entry || (best && *entry >= best_cost)) continue;
      best = Choice{algorithm, protocol, 0};
      best_cost = *entry;
    }
  }
  return best;
}

}  // namespace lanewise
