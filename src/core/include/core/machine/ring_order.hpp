// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The order of a ring along the tree of bridges: it enters and leaves each switch, root and socket
// once, so that no uplink carries more than one flow each way.
#include <cstddef>
#include <vector>

#include "core/machine/topology.hpp"

namespace lanewise {

// Positions in Topology::gpus, each once.
[[nodiscard]] std::vector<std::size_t> ring_order(const Topology& topology);

// The farthest step of that ring, its last one back to the first included; `unknown` where any is,
// `self` for one GPU or none.
[[nodiscard]] PathType farthest_step(const Topology& topology,
                                     const std::vector<std::size_t>& order);

}  // namespace lanewise
