// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What NCCL_ALGO and NCCL_PROTO leave of the costs that NCCL reckons for an all-reduce. NCCL hands
// its tuner a table that is filtered already; this is for costs that are estimated.
#include <array>
#include <string_view>

#include "core/nccl/cost_model.hpp"

namespace lanewise {

struct CostFilter {
  std::array<bool, algorithm_count> algorithms;
  std::array<bool, protocol_count> protocols;
  // A list that names LL128, or leaves it out of "^..", has NCCL price it over PCIe as well.
  Ll128Pricing ll128 = Ll128Pricing::forbidden;
  friend bool operator==(const CostFilter&, const CostFilter&) = default;
};

// From the variables' values, empty where they are not set: "ring,tree", "^ll" and, from 2.24 on,
// "allreduce:ring;broadcast:ring". Throws Error for a word that NCCL takes for none: from 2.24 on
// every communicator fails with it, before that it is passed over here, too.
[[nodiscard]] CostFilter parse_cost_filter(std::string_view algorithms, std::string_view protocols,
                                           const NcclRelease& release);

// -1 for what the filter forbids.
[[nodiscard]] CostArray filter_costs(const CostFilter& filter, CostArray costs) noexcept;

}  // namespace lanewise
