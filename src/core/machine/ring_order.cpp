// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/ring_order.hpp"

#include <algorithm>
#include <compare>
#include <numeric>
#include <optional>
#include <tuple>

namespace lanewise {
namespace {

// What a GPU hangs on, from the outermost inwards: GPUs that share a part of it come together.
struct Place {
  int host = 0;
  std::optional<int> socket;
  std::optional<int> numa;
  std::optional<std::size_t> root;
  std::vector<PciAddress> switches;
  PciAddress address;
  friend auto operator<=>(const Place&, const Place&) = default;
};

std::optional<int> socket_of(const Topology& topology, const Root* root,
                             const std::optional<int>& numa) {
  if (root != nullptr && root->socket) return root->socket;
  for (const auto& node : topology.numa_nodes)
    if (node.number == numa) return node.socket;
  return std::nullopt;
}

Place find_place(const Topology& topology, const Gpu& gpu) {
  Place place;
  place.address = gpu.address;
  place.root = gpu.root;
  auto bridge = gpu.bridge;
  while (bridge && *bridge < topology.bridges.size() &&
         place.switches.size() < topology.bridges.size()) {
    const Bridge& above = topology.bridges[*bridge];
    place.switches.insert(place.switches.begin(), above.address);
    if (!above.parent) place.root = above.root;
    bridge = above.parent;
  }
  const bool has_root = place.root && *place.root < topology.roots.size();
  const Root* root = has_root ? &topology.roots[*place.root] : nullptr;
  if (root != nullptr) place.host = root->host;
  place.numa = gpu.numa ? gpu.numa : root != nullptr ? root->numa : std::nullopt;
  place.socket = socket_of(topology, root, place.numa);
  return place;
}

}  // namespace

std::vector<std::size_t> ring_order(const Topology& topology) {
  std::vector<Place> places;
  places.reserve(topology.gpus.size());
  for (const auto& gpu : topology.gpus) places.push_back(find_place(topology, gpu));
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  return order;
}

PathType farthest_step(const Topology& topology, const std::vector<std::size_t>& order) {
  PathType farthest = PathType::self;
  for (std::size_t i = 0; i < order.size(); ++i)
    farthest = std::max(farthest, topology.path(order[i], order[(i + 1) % order.size()]));
  return farthest;
}

}  // namespace lanewise
