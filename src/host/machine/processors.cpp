// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <charconv>

#include "files/split_text.hpp"
#include "topology_readers.hpp"

namespace lanewise::host {

namespace {

struct CpuRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::optional<std::size_t> parse_cpu(std::string_view text) {
  std::size_t cpu = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return cpu;
}

std::optional<CpuRange> parse_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_cpu(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_cpu(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return CpuRange{.first = *first, .last = *last};
}

// Offline CPUs belong to no node; a range counts as a node's if every known CPU in it is.
bool touches(const std::vector<bool>& cpus, const CpuRange& range) {
  for (auto cpu = range.first; cpu <= range.last && cpu < cpus.size(); ++cpu) {
    if (cpus[cpu]) return true;
  }
  return false;
}

}  // namespace

const NumaNode* Processors::find_node(int number) const noexcept {
  const auto found = std::ranges::find(numa_nodes, number, &NumaNode::number);
  return found == numa_nodes.end() ? nullptr : &*found;
}

std::optional<int> Processors::node_of(std::string_view cpu_list) const {
  std::optional<int> node;
  for (const auto part : split_text(cpu_list, ',')) {
    const auto range = parse_range(part);
    if (!range) return std::nullopt;
    for (std::size_t index = 0; index < numa_nodes.size(); ++index) {
      if (!touches(cpus_of_node[index], *range)) continue;
      if (node && *node != numa_nodes[index].number) return std::nullopt;
      node = numa_nodes[index].number;
    }
  }
  return node;
}

}  // namespace lanewise::host
