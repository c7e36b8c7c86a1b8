// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "contention.hpp"
#include "survey.hpp"

namespace lanewise::bench {

std::vector<std::optional<std::size_t>> uplinks_of(const Topology& topology,
                                                   const std::vector<std::string>& pci) {
  std::vector<std::optional<std::size_t>> uplinks;
  for (const std::string& text : pci) {
    const auto address = parse_pci_address(text);
    const auto gpu = address ? topology.find_gpu(*address) : std::nullopt;
    auto bridge = gpu ? topology.gpus.at(*gpu).bridge : std::nullopt;
    while (bridge && topology.bridges.at(*bridge).parent) {
      bridge = topology.bridges.at(*bridge).parent;
    }
    uplinks.push_back(bridge);
  }
  return uplinks;
}

void add_paths(LinkReport& report, const Topology& topology) {
  const auto find = [&](int gpu) {
    const auto address = parse_pci_address(report.machine.pci.at(static_cast<std::size_t>(gpu)));
    return address ? topology.find_gpu(*address) : std::nullopt;
  };
  for (PairResult& pair : report.pairs) {
    const auto from = find(pair.flow.from);
    const auto to = find(pair.flow.to);
    if (from && to) pair.path = std::string(name_of(topology.path(*from, *to)));
  }
}

}  // namespace lanewise::bench
