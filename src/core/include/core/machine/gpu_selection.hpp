// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which GPUs of a machine the ranks of a communicator take, and by which numbers people know them.
#include <cstddef>
#include <vector>

#include "core/machine/topology.hpp"

namespace lanewise {

// The number of each GPU: those of the source, else positions, also where two GPUs of a source have
// the same one. NVML counts in order of PCI address, as Topology does.
[[nodiscard]] std::vector<int> gpu_numbers(const Topology& topology);

// The positions of GPUs with these numbers, in the same order. Throws Error for a number that no
// GPU has and for one that is named twice.
[[nodiscard]] std::vector<std::size_t> find_gpus(const Topology& topology,
                                                 const std::vector<int>& numbers);

// The machine with these GPUs alone; bridges, roots and NUMA nodes stay.
[[nodiscard]] Topology select_gpus(const Topology& topology,
                                   const std::vector<std::size_t>& positions);

// Groups of `count` GPUs that lie otherwise than the first ones may: neighbours along the ring, and
// one that is spread over the NUMA nodes. Sorted positions, each group once.
[[nodiscard]] std::vector<std::vector<std::size_t>> sample_groups(const Topology& topology,
                                                                  std::size_t count);

}  // namespace lanewise
