// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A machine of four GPUs with peer access, whose answers a test can replace.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "links/link_tester.hpp"

namespace lanewise::bench {

class FakeLinkTester : public LinkTester {
 public:
  std::size_t gpus = 4;
  std::function<std::optional<Reading>(const Probe&)> answer;
  std::vector<Probe> asked;

  LinkMachine describe() override {
    LinkMachine machine;
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      machine.pci.push_back("0000:0" + std::to_string(gpu + 1) + ":00.0");
      machine.names.emplace_back("NVIDIA Fake 4090");
      machine.peer_access.emplace_back(gpus, true);
    }
    return machine;
  }

  Reading measure(const Probe& probe) override {
    asked.push_back(probe);
    if (answer) {
      if (auto reading = answer(probe)) return *reading;
    }
    const double value = probe.kind == ProbeKind::bandwidth ? 50.0 : 1.5;
    return {std::vector<double>(probe.flows.size(), value), std::nullopt};
  }
};

inline bool touches(const Probe& probe, int gpu) {
  for (const Flow& flow : probe.flows) {
    if (flow.from == gpu || flow.to == gpu) return true;
  }
  return false;
}

}  // namespace lanewise::bench
