// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/topology.hpp"

#include <gtest/gtest.h>

#include <array>

namespace lanewise {
namespace {

constexpr PciLink gen5_x16{5, 16};

// Two roots on two nodes; on the first a switch with two GPUs, below it a second one with a third.
Topology two_switches() {
  Topology topology;
  topology.roots = {{.domain = 0, .bus = 0, .numa = 0}, {.domain = 0, .bus = 0x80, .numa = 1}};
  topology.numa_nodes = {{.number = 0}, {.number = 1}};
  topology.bridges = {
      {.address = {0, 1, 0, 0}, .vendor = 0x1000, .device = 0xc010, .link = gen5_x16, .root = 0},
      {.address = {0, 4, 0, 0}, .vendor = 0x1000, .device = 0xc010, .link = gen5_x16, .parent = 0}};
  const auto add = [&](std::uint8_t bus, std::optional<std::size_t> bridge, std::size_t root) {
    topology.gpus.push_back({.address = {0, bus, 0, 0},
                             .device = 0x2bb5,
                             .link = gen5_x16,
                             .narrowest = gen5_x16,
                             .bridge = bridge,
                             .root = root,
                             .numa = static_cast<int>(root)});
  };
  add(2, 0, 0);
  add(3, 0, 0);
  add(5, 1, 0);
  add(6, std::nullopt, 0);
  add(0x81, std::nullopt, 1);
  return topology;
}

TEST(PciAddress, ReadsWhatToolsWrite) {
  EXPECT_EQ(parse_pci_address("0000:c1:00.0"), (PciAddress{0, 0xc1, 0, 0}));
  EXPECT_EQ(parse_pci_address("c1:1f.7"), (PciAddress{0, 0xc1, 0x1f, 7}));
  EXPECT_EQ(parse_pci_address("00000000:C1:00.0"), (PciAddress{0, 0xc1, 0, 0}));
  EXPECT_EQ(parse_pci_address("10000:01:00.0"), (PciAddress{0x10000, 1, 0, 0}));
  EXPECT_EQ(parse_pci_address("ffffffff:ff:00.0"), (PciAddress{0xffffffff, 0xff, 0, 0}));
}

TEST(PciAddress, RefusesAnythingElse) {
  for (const char* text : {"",
                           ".",
                           ":",
                           "0",
                           "c1",
                           "c1:00",
                           "c1.0",
                           ":00.0",
                           "c1:.0",
                           "c1:00.",
                           "c1:00.8",
                           "c1:20.0",
                           "100:00.0",
                           "123456789:c1:00.0",
                           "0000:c1:00.0 ",
                           " c1:00.0",
                           "c1:00.0.0",
                           "::c1:00.0",
                           "0000:c1:zz.0",
                           "-1:c1:00.0",
                           "+1:c1:00.0",
                           "0x1:c1:00.0",
                           "fffffff:ff:ff.0"})
    EXPECT_FALSE(parse_pci_address(text).has_value()) << text;
}

TEST(PciAddress, WritesWhatItReads) {
  for (const char* text : {"0000:c1:00.0", "10000:01:1f.7", "ffffffff:ff:00.3"})
    EXPECT_EQ(to_string(parse_pci_address(text).value()), text);
}

TEST(PciLink, KnowsTheBandwidthOfEachGeneration) {
  EXPECT_DOUBLE_EQ((PciLink{1, 16}).gigabytes_per_second(), 4.0);
  EXPECT_NEAR((PciLink{3, 16}).gigabytes_per_second(), 15.75, 0.01);
  EXPECT_NEAR((PciLink{4, 8}).gigabytes_per_second(), 15.75, 0.01);
  EXPECT_NEAR((PciLink{5, 16}).gigabytes_per_second(), 63.0, 0.1);
  EXPECT_NEAR((PciLink{6, 16}).gigabytes_per_second(), 121.0, 0.1);
}

TEST(PciLink, HasNoBandwidthWhereItIsUnknown) {
  for (const PciLink link :
       {PciLink{}, PciLink{0, 16}, PciLink{5, 0}, PciLink{7, 16}, PciLink{-1, 16}})
    EXPECT_EQ(link.gigabytes_per_second(), 0.0);
}

TEST(Topology, TellsPathsAsNvidiaSmiDoes) {
  const auto topology = two_switches();

  EXPECT_EQ(topology.path(0, 0), PathType::self);
  EXPECT_EQ(topology.path(0, 1), PathType::pix);
  EXPECT_EQ(topology.path(0, 2), PathType::pxb);
  EXPECT_EQ(topology.path(0, 3), PathType::phb);
  EXPECT_EQ(topology.path(0, 4), PathType::sys);
}

TEST(Topology, TellsANodesHostBridgesApart) {
  auto topology = two_switches();
  topology.roots[1].numa = 0;
  topology.gpus[4].numa.reset();

  EXPECT_EQ(topology.path(0, 4), PathType::node);
}

TEST(Topology, DoesNotGuessAPath) {
  auto topology = two_switches();
  topology.roots[1].numa.reset();
  topology.gpus[4].numa.reset();

  EXPECT_EQ(topology.path(0, 4), PathType::unknown);
  EXPECT_EQ(topology.path(0, 99), PathType::unknown);
}

TEST(Topology, EndsOnBridgesThatContainEachOther) {
  auto topology = two_switches();
  topology.bridges[0].parent = 1;

  EXPECT_EQ(topology.path(0, 3), PathType::phb);
  EXPECT_EQ(fingerprint(topology).size(), 16U);
}

TEST(Topology, NamesEveryPath) {
  EXPECT_EQ(name_of(PathType::self), "X");
  EXPECT_EQ(name_of(PathType::pxb), "PXB");
  EXPECT_EQ(name_of(PathType::unknown), "?");
  EXPECT_EQ(name_of(static_cast<PathType>(99)), "?");
}

TEST(Topology, FindsAGpuByAddress) {
  const auto topology = two_switches();

  EXPECT_EQ(topology.find_gpu({0, 5, 0, 0}), 2U);
  EXPECT_FALSE(topology.find_gpu({0, 7, 0, 0}).has_value());
}

TEST(Fingerprint, SurvivesOtherBusNumbersAndOrder) {
  auto topology = two_switches();
  const auto before = fingerprint(topology);
  for (auto& gpu : topology.gpus) gpu.address.bus += 0x20;
  for (auto& bridge : topology.bridges) bridge.address.bus += 0x20;
  for (auto& root : topology.roots) root.bus += 0x20;
  std::swap(topology.gpus[0], topology.gpus[2]);
  topology.source = "elsewhere";
  topology.notes = {"a note"};

  EXPECT_EQ(fingerprint(topology), before);
}

TEST(Fingerprint, ChangesWithAnyPartOfTheMachine) {
  const auto before = fingerprint(two_switches());
  using Change = void (*)(Topology&);
  constexpr std::array<Change, 11> changes = {
      [](Topology& t) { t.gpus.pop_back(); },
      [](Topology& t) { t.gpus[0].device = 0x2684; },
      [](Topology& t) { t.gpus[0].link.width = 8; },
      [](Topology& t) { t.gpus[0].narrowest.width = 8; },
      [](Topology& t) { t.gpus[0].link.generation = 4; },
      [](Topology& t) { t.gpus[2].bridge = 0; },
      [](Topology& t) { t.bridges[0].link.width = 8; },
      [](Topology& t) { t.bridges[1].device = 0xc030; },
      [](Topology& t) { t.numa_nodes.pop_back(); },
      [](Topology& t) { t.gpus[3].numa = 1; },
      [](Topology& t) { t.cpu_model = 2; },
  };
  for (std::size_t index = 0; index < changes.size(); ++index) {
    auto topology = two_switches();
    changes[index](topology);
    EXPECT_NE(fingerprint(topology), before) << index;
  }
}

}  // namespace
}  // namespace lanewise
