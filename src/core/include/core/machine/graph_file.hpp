// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// An NCCL_GRAPH_FILE for all GPUs of a machine on which NCCL's own search finds no ring at a sane
// bandwidth (it then plans with 0.1 GB/s). Pure: from a topology to the file's text.
#include <string>
#include <vector>

#include "core/machine/topology.hpp"

namespace lanewise {

// `devices`: NVML's numbers in ring order, see gpu_numbers.
struct RingGraph {
  std::vector<int> devices;
  int channels = 0;              // NCCL doubles them
  double channel_bandwidth = 0;  // GB/s
  PathType farthest = PathType::unknown;
  friend bool operator==(const RingGraph&, const RingGraph&) = default;
};

// Throws Error with the reason where a file would not help or could not be right: NCCL's search
// works here, NVLink, a guest's tree, GPUs of several models, fewer than two.
[[nodiscard]] RingGraph plan_ring_graph(const Topology& topology);

// The text of the file: the same channels as ring and as tree, which inside a node is a chain.
[[nodiscard]] std::string format_graph_file(const RingGraph& graph);

}  // namespace lanewise
