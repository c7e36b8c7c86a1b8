// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which GPUs to let write at the same time to see what they share: an uplink, or a switch that
// collapses when two of its GPUs write to two root ports.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/topology.hpp"
#include "probe.hpp"

namespace lanewise::bench {

struct Scenario {
  std::string name;
  std::vector<Flow> flows;  // each GPU at most once as `from`
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// The root port above each CUDA device, as an index into Topology::bridges; none where a device is
// not in the topology or sits directly under its root. In the order of `pci`.
[[nodiscard]] std::vector<std::optional<std::size_t>> uplinks_of(
    const Topology& topology, const std::vector<std::string>& pci);

// For every uplink with several GPUs: all of them write to GPUs below one other uplink and, where
// there are more, to GPUs below different ones. Where no uplink is shared: none. A device without
// an uplink counts as one below an uplink of its own.
[[nodiscard]] std::vector<Scenario> shared_uplink_scenarios(
    const std::vector<std::optional<std::size_t>>& uplinks);

// Where the tree is unknown: every two GPUs write to the two that follow them (with three GPUs,
// to the third). Fewer than three GPUs: none.
[[nodiscard]] std::vector<Scenario> pairwise_scenarios(std::size_t gpus);

}  // namespace lanewise::bench
