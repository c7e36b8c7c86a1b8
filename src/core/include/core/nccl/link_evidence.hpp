// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What the costs of one call give away: the kind of link NCCL found, and whether the bandwidth it
// found is absurd (its graph search fell back to 0.1 GB/s).
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/nccl/cost_table.hpp"

namespace lanewise {

enum class LinkKind : std::uint8_t { unknown, pcie, nvlink };

// `bus_bandwidth`: GB/s NCCL reckons with for Ring/Simple; nullopt where the costs do not tell.
struct LinkEvidence {
  LinkKind kind = LinkKind::unknown;
  std::optional<double> bus_bandwidth;
  friend bool operator==(const LinkEvidence&, const LinkEvidence&) = default;
};

// Below this no PCIe link of two GPUs is: Gen3 x4 gives 3.
inline constexpr double absurd_bandwidth = 2.0;

// Of an all-reduce's table of one node with `ranks` >= 2; `pipe_ops` as in the query.
[[nodiscard]] LinkEvidence link_evidence(const CostTable& table, std::size_t bytes, int ranks,
                                         int pipe_ops) noexcept;
// Whether NCCL multiplied Ring's costs by 1024, as it does for fp8 on more than 8 ranks (2.24 and
// later) against Ring's many roundings: such an entry has a cost and is not to be taken.
[[nodiscard]] bool is_ring_guarded(const CostTable& table, int ranks, int pipe_ops) noexcept;
[[nodiscard]] bool is_absurd(const LinkEvidence& evidence) noexcept;

}  // namespace lanewise
