// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/graph_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

#include "core/error.hpp"
#include "core/machine/gpu_selection.hpp"
#include "core/machine/ring_order.hpp"
#include "core/machine/topology_facts.hpp"
#include "core/nccl/cost_model.hpp"

namespace lanewise {
namespace {

// The slowest channel that any release's search finds by itself is 3 GB/s.
constexpr double least_found_bandwidth = 1.0;
// As many as NCCL's own search finds on one socket of the same GPUs.
constexpr int planned_channels = 2;
// Between AMD sockets, measured one way from GPU to GPU: 39 GB/s on Genoa, 50 on Turin.
constexpr double amd_socket_bandwidth = 39.0;
// NCCL's own number for the older Intel sockets; nobody has measured those with a file.
constexpr double other_socket_bandwidth = 10.0;
// What NCCL counts of a link: 48 of 63 GB/s on Gen5 x16.
constexpr double usable_share = 0.76;

int lowest_compute_capability(const Topology& topology) {
  int lowest = topology.gpus.front().compute_capability;
  for (const auto& gpu : topology.gpus) lowest = std::min(lowest, gpu.compute_capability);
  return lowest;
}

void require_known_tree(const Topology& topology) {
  if (topology.gpus.size() < 2) throw Error("fewer than two GPUs: there is no ring to plan");
  if (count_hosts(topology) > 1)
    throw Error("GPUs of several hosts: their ring is not planned here");
  if (topology.has_nvlink()) throw Error("NVLink: NCCL's own search knows better than a PCIe ring");
  if (topology.is_guest || is_flat(topology))
    throw Error("a guest's PCI tree need not be the machine's: no ring can be planned on it");
  if (!is_homogeneous(topology))
    throw Error("GPUs of several models: a file for all of them would fit no communicator");
  if (lowest_compute_capability(topology) == 0)
    throw Error("a GPU of unknown compute capability: give its NCCL topology file with --machine");
}

// A file that several containers wrote together may have GPU 0 of each.
void require_numbers(const Topology& topology) {
  const auto numbers = gpu_numbers(topology);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (topology.gpus[i].number.value_or(numbers[i]) != numbers[i])
      throw Error("two GPUs have the same number (dev): a graph file cannot tell them apart");
}

void require_failing_search(const Topology& topology) {
  const auto found = estimate_search(topology, lowest_compute_capability(topology));
  if (found.channel_bandwidth > least_found_bandwidth)
    throw Error("NCCL's own search finds " + to_string(found) +
                " here, by our estimate: a graph file would not help");
}

double ring_bandwidth(const Topology& topology, PathType farthest) {
  double bandwidth = std::numeric_limits<double>::infinity();
  if (farthest >= PathType::sys)
    bandwidth =
        topology.cpu_vendor == "AuthenticAMD" ? amd_socket_bandwidth : other_socket_bandwidth;
  for (const auto& gpu : topology.gpus) {
    const auto& link = gpu.narrowest.is_known() ? gpu.narrowest : gpu.link;
    if (link.is_known())
      bandwidth = std::min(bandwidth, usable_share * link.gigabytes_per_second());
  }
  return bandwidth;
}

// NCCL's words; it has no NODE and takes that for PHB.
std::string_view type_of(PathType path) {
  switch (path) {
    case PathType::pix:
      return "PIX";
    case PathType::pxb:
      return "PXB";
    case PathType::phb:
    case PathType::node:
      return "PHB";
    default:
      return "SYS";
  }
}

constexpr int ring_id = 0;
constexpr int tree_id = 1;
constexpr int ring_pattern = 4;
constexpr int balanced_tree_pattern = 1;

void append_graph(const RingGraph& graph, int id, int pattern, std::string& text) {
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(),
                "  <graph id=\"%d\" pattern=\"%d\" crossnic=\"0\" nchannels=\"%d\" "
                "speedintra=\"%.1f\" speedinter=\"%.1f\" latencyinter=\"0\" typeintra=\"%s\" "
                "typeinter=\"PIX\" samechannels=\"1\">\n",
                id, pattern, graph.channels, graph.channel_bandwidth, graph.channel_bandwidth,
                std::string(type_of(graph.farthest)).c_str());
  text += line.data();
  for (int channel = 0; channel < graph.channels; ++channel) {
    text += "    <channel>\n";
    for (const int device : graph.devices) {
      // NCCL reads the number as hexadecimal, with or without 0x.
      std::snprintf(line.data(), line.size(), "      <gpu dev=\"0x%x\"/>\n",
                    static_cast<unsigned>(device));
      text += line.data();
    }
    text += "    </channel>\n";
  }
  text += "  </graph>\n";
}

}  // namespace

RingGraph plan_ring_graph(const Topology& topology) {
  require_known_tree(topology);
  require_numbers(topology);
  require_failing_search(topology);
  const auto order = ring_order(topology);
  RingGraph graph;
  const auto numbers = gpu_numbers(topology);
  for (const auto position : order) graph.devices.push_back(numbers[position]);
  graph.channels = planned_channels;
  graph.farthest = farthest_step(topology, order);
  graph.channel_bandwidth = ring_bandwidth(topology, graph.farthest) / planned_channels;
  if (!std::isfinite(graph.channel_bandwidth)) throw Error("no GPU's link is known");
  return graph;
}

// NCCL's parser takes one blank between attributes and no tab.
std::string format_graph_file(const RingGraph& graph) {
  std::string text = "<graphs version=\"1\">\n";
  append_graph(graph, ring_id, ring_pattern, text);
  append_graph(graph, tree_id, balanced_tree_pattern, text);
  return text + "</graphs>\n";
}

}  // namespace lanewise
