// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/gpu_selection.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/machine/ring_order.hpp"

namespace lanewise {
namespace {

using Group = std::vector<std::size_t>;

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

Group sorted(Group group) {
  std::ranges::sort(group);
  return group;
}

// A GPU of each NUMA node in turn.
Group spread(const Topology& topology, std::size_t count) {
  std::map<std::optional<int>, Group> nodes;
  for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
    nodes[topology.gpus[gpu].numa].push_back(gpu);
  Group group;
  for (std::size_t turn = 0; group.size() < count && turn < topology.gpus.size(); ++turn)
    for (const auto& [numa, gpus] : nodes)
      if (turn < gpus.size() && group.size() < count) group.push_back(gpus[turn]);
  return sorted(std::move(group));
}

}  // namespace

std::vector<int> gpu_numbers(const Topology& topology) {
  std::vector<int> numbers;
  std::set<int> seen;
  for (const auto& gpu : topology.gpus)
    if (gpu.number && seen.insert(*gpu.number).second) numbers.push_back(*gpu.number);
  if (numbers.size() == topology.gpus.size()) return numbers;
  numbers.clear();
  for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
    numbers.push_back(static_cast<int>(gpu));
  return numbers;
}

std::vector<std::size_t> find_gpus(const Topology& topology, const std::vector<int>& numbers) {
  const auto known = gpu_numbers(topology);
  std::vector<std::size_t> positions;
  for (const int number : numbers) {
    const auto found = std::ranges::find(known, number);
    if (found == known.end())
      throw Error("no GPU " + std::to_string(number) + " on " + topology.source + ": expected of " +
                  list(known));
    const auto position = static_cast<std::size_t>(found - known.begin());
    if (std::ranges::find(positions, position) != positions.end())
      throw Error("expected each GPU once, found " + std::to_string(number) + " again");
    positions.push_back(position);
  }
  return positions;
}

Topology select_gpus(const Topology& topology, const std::vector<std::size_t>& positions) {
  Topology selected = topology;
  selected.gpus.clear();
  selected.stated_paths.clear();
  for (const auto position : positions) {
    selected.gpus.push_back(topology.gpus.at(position));
    if (topology.stated_paths.empty()) continue;
    for (const auto other : positions)
      selected.stated_paths.push_back(topology.path(position, other));
  }
  return selected;
}

std::vector<std::vector<std::size_t>> sample_groups(const Topology& topology, std::size_t count) {
  std::set<Group> groups;
  const auto order = ring_order(topology);
  if (count == 0 || count > order.size()) return {};
  for (std::size_t first = 0; first < order.size(); first += count) {
    Group group;
    for (std::size_t i = 0; i < count; ++i) group.push_back(order[(first + i) % order.size()]);
    groups.insert(sorted(std::move(group)));
  }
  groups.insert(spread(topology, count));
  return {groups.begin(), groups.end()};
}

}  // namespace lanewise
