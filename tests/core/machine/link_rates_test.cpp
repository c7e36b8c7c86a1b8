// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/link_rates.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

// A GPU for each link, every one under a root of its own.
Topology machine_of(std::initializer_list<PciLink> links) {
  Topology topology;
  for (const auto& link : links) {
    Gpu gpu;
    gpu.address.bus = static_cast<std::uint8_t>(16 * (topology.gpus.size() + 1));
    gpu.link = link;
    gpu.root = topology.roots.size();
    topology.roots.push_back({.bus = gpu.address.bus});
    topology.gpus.push_back(gpu);
  }
  return topology;
}

TEST(LinkRates, AreThoseOfTheNarrowestAndTheWidestGpu) {
  const auto rates = link_rates(machine_of({{5, 16}, {3, 4}}));

  EXPECT_NEAR(rates.low, 3.94, 0.01);
  EXPECT_NEAR(rates.high, 63.0, 0.1);
}

TEST(LinkRates, CountTheNarrowestHopToTheRoot) {
  Topology topology = machine_of({{5, 16}, {5, 16}});
  topology.gpus[0].narrowest = topology.gpus[1].narrowest = {4, 4};

  EXPECT_NEAR(link_rates(topology).high, 7.88, 0.01);
}

TEST(LinkRates, DivideAnUplinkAmongTheGpusBelowIt) {
  Topology topology = machine_of({{4, 16}, {4, 16}, {4, 16}, {4, 16}});
  topology.bridges = {{.link = {4, 16}, .root = 0}};
  for (auto& gpu : topology.gpus) gpu.bridge = 0;

  EXPECT_NEAR(link_rates(topology).low, 31.5 / 4, 0.1);
  EXPECT_NEAR(link_rates(topology).high, 31.5, 0.1);
}

TEST(LinkRates, AreNotKnownOfAFlatGuestAndWhereALinkIsNot) {
  EXPECT_FALSE(link_rates({}).is_known());
  EXPECT_FALSE(link_rates(machine_of({{5, 16}, {}})).is_known());

  Topology flat = machine_of({{5, 16}, {5, 16}});
  for (std::uint8_t device = 0; device < 2; ++device) flat.gpus[device].address = {0, 1, device, 0};
  EXPECT_FALSE(link_rates(flat).is_known());
}

}  // namespace
}  // namespace lanewise
