// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"
#include "sysfs_tree.hpp"

namespace lanewise {
namespace {

using host::read_topology_under;

bool has_note(const Topology& topology, const std::string& words) {
  return std::ranges::any_of(topology.notes, [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

TEST(MachineSysfs, TellsEveryKindOfPath) {
  SysfsTree tree;
  add_machine(tree);

  const auto topology = read_topology_under(tree.root());

  ASSERT_EQ(topology.gpus.size(), 4U);
  EXPECT_EQ(topology.path(0, 1), PathType::pix);
  EXPECT_EQ(topology.path(0, 2), PathType::phb);
  EXPECT_EQ(topology.path(0, 3), PathType::sys);
  ASSERT_EQ(topology.bridges.size(), 1U);
  EXPECT_EQ(to_string(topology.bridges[0].address), "0000:01:00.0");
  EXPECT_EQ(topology.roots.size(), 2U);
  EXPECT_EQ(topology.roots[1].socket, 1);
  EXPECT_TRUE(topology.notes.empty());
}

TEST(MachineSysfs, TakesLinksAtTheirMaximumAndTheNarrowestHop) {
  SysfsTree tree;
  add_machine(tree);

  const auto topology = read_topology_under(tree.root());

  EXPECT_EQ(topology.gpus[0].link, (PciLink{5, 16}));
  EXPECT_EQ(topology.gpus[0].narrowest, (PciLink{5, 16}));
  EXPECT_EQ(topology.gpus[2].link, (PciLink{5, 16}));
  EXPECT_EQ(topology.gpus[2].narrowest, (PciLink{5, 8}));
  EXPECT_EQ(topology.gpus[0].model, "NVIDIA RTX PRO 6000 Blackwell Server Edition");
  EXPECT_EQ(topology.gpus[0].compute_capability, 120);
}

TEST(MachineSysfs, LeavesAnUnknownLinkUnknown) {
  for (const std::string speed : {"Unknown", "Unknown speed", "", "99.0 GT/s PCIe", "GT/s"}) {
    SysfsTree tree;
    add_machine(tree);
    tree.write("sys/devices/pci0000:80/0000:80:01.1/0000:81:00.0/max_link_speed", speed);
    tree.write("sys/devices/pci0000:80/0000:80:01.1/max_link_width", "255");

    const auto topology = read_topology_under(tree.root());

    EXPECT_FALSE(topology.gpus[3].link.is_known()) << speed;
    EXPECT_FALSE(topology.gpus[3].narrowest.is_known()) << speed;
  }
}

TEST(MachineSysfs, KeepsItsFingerprintWhenBusNumbersMove) {
  SysfsTree tree;
  SysfsTree moved;
  add_machine(tree);
  add_machine(moved, "41");

  const auto before = read_topology_under(tree.root());
  const auto after = read_topology_under(moved.root());

  EXPECT_NE(before.bridges, after.bridges);
  EXPECT_EQ(fingerprint(before), fingerprint(after));
}

struct NumaCase {
  std::string text;
  std::vector<int> nodes;
  std::optional<int> expected;
  bool is_noted = false;
};

TEST(MachineSysfs, TakesANumaNodeThatIsNoneAsUnknown) {
  const std::vector<NumaCase> cases = {
      {"-1", {0}, 0, false},           {"-1", {0, 1}, std::nullopt, false},
      {"garbage", {0}, 0, false},      {"garbage", {0, 1}, std::nullopt, false},
      {"99", {0}, std::nullopt, true}, {"99", {0, 1}, std::nullopt, true},
      {"2", {0, 2}, 2, false},         {"99999999999999", {0, 1}, std::nullopt, false},
  };
  for (const auto& numa_case : cases) {
    SysfsTree tree;
    tree.add_nodes(numa_case.nodes);
    tree.add_gpu("pci0000:00/0000:00:01.0", numa_case.text);

    const auto topology = read_topology_under(tree.root());

    ASSERT_EQ(topology.gpus.size(), 1U) << numa_case.text;
    EXPECT_EQ(topology.gpus[0].numa, numa_case.expected) << numa_case.text;
    EXPECT_EQ(has_note(topology, "does not exist"), numa_case.is_noted) << numa_case.text;
  }
}

TEST(MachineSysfs, FallsBackToTheGpusProcessorsAndThenToItsPort) {
  SysfsTree tree;
  tree.add_nodes({0, 1});
  tree.write(tree.add_gpu("pci0000:00/0000:00:01.0", "-1") + "/local_cpulist", "2-3");
  tree.write(tree.add_gpu("pci0000:00/0000:00:02.0", "-1") + "/local_cpulist", "0-3");
  tree.add_bridge("pci0000:80/0000:80:01.0", "0x1022", "0x153e", "16", "1");
  tree.add_gpu("pci0000:80/0000:80:01.0/0000:81:00.0", "-1");

  const auto topology = read_topology_under(tree.root());

  ASSERT_EQ(topology.gpus.size(), 3U);
  EXPECT_EQ(topology.gpus[0].numa, 1);
  EXPECT_EQ(topology.gpus[2].numa, 1);
}

TEST(MachineSysfs, SaysWhenAGpuAndItsPortDisagreeOnTheNode) {
  SysfsTree tree;
  tree.add_nodes({0, 1});
  tree.add_bridge("pci0000:00/0000:00:01.0", "0x1022", "0x153e", "16", "1");
  tree.add_gpu("pci0000:00/0000:00:01.0/0000:01:00.0", "0");

  EXPECT_TRUE(has_note(read_topology_under(tree.root()), "not to be trusted"));
}

TEST(MachineSysfs, ReadsDomainsOfMoreThanSixteenBits) {
  SysfsTree tree;
  tree.add_nodes({0});
  tree.add_function("pci0000:00/0000:00:0e.0", {{"vendor", "0x8086"}, {"class", "0x010400"}});
  tree.add_bridge("pci0000:00/0000:00:0e.0/pci10000:00/10000:00:01.0");
  tree.add_gpu("pci0000:00/0000:00:0e.0/pci10000:00/10000:00:01.0/10000:01:00.0");

  const auto topology = read_topology_under(tree.root());

  ASSERT_EQ(topology.gpus.size(), 1U);
  EXPECT_EQ(topology.gpus[0].address.domain, 0x10000U);
  EXPECT_TRUE(topology.bridges.empty());
  EXPECT_EQ(topology.roots.at(topology.gpus[0].root.value()).domain, 0x10000U);
}

TEST(MachineSysfs, IgnoresOtherVendorsAndPlaceholders) {
  SysfsTree tree;
  tree.add_nodes({0});
  tree.add_function("pci0000:00/0000:00:01.0", {{"vendor", "0x1a03"}, {"class", "0x030000"}});
  tree.add_function("pci0000:00/0000:00:02.0", {{"vendor", "0x1000"}, {"class", "0x088000"}});
  tree.add_function("pci0000:00/0000:00:03.0", {{"vendor", "0x1002"}, {"class", "0x030200"}});
  tree.add_function("pci0000:00/0000:00:04.1", {{"vendor", "0x10de"}, {"class", "0x040300"}});

  const auto topology = read_topology_under(tree.root());

  EXPECT_TRUE(topology.gpus.empty());
  EXPECT_TRUE(has_note(topology, "no NVIDIA GPU"));
}

TEST(MachineSysfs, CountsNvswitchesAsEvidenceOfNvlink) {
  SysfsTree tree;
  add_machine(tree);
  tree.add_function("pci0000:80/0000:80:03.1/0000:82:00.0",
                    {{"vendor", "0x10de"}, {"device", "0x22a3"}, {"class", "0x068000"}});

  EXPECT_TRUE(read_topology_under(tree.root()).has_nvlink());
}

TEST(MachineSysfs, KnowsAGuestByItsProcessorsFlags) {
  SysfsTree tree;
  add_machine(tree);
  EXPECT_FALSE(read_topology_under(tree.root()).is_guest);

  tree.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor sse\n");

  EXPECT_TRUE(read_topology_under(tree.root()).is_guest);
}

TEST(MachineSysfs, KnowsAGuestByTwoGpusOnOneBus) {
  SysfsTree tree;
  tree.add_nodes({0});
  tree.add_gpu("pci0000:00/0000:00:05.0");
  tree.add_gpu("pci0000:00/0000:00:06.0");

  const auto topology = read_topology_under(tree.root());

  EXPECT_EQ(topology.path(0, 1), PathType::phb);
  EXPECT_TRUE(topology.is_guest);
}

TEST(MachineSysfs, SurvivesAMachineWithoutSys) {
  SysfsTree tree;

  const auto topology = read_topology_under(tree.root());

  EXPECT_TRUE(topology.gpus.empty());
  EXPECT_TRUE(has_note(topology, "/sys/bus/pci/devices"));
  EXPECT_TRUE(has_note(topology, "/sys/devices/system/node"));
}

TEST(MachineSysfs, FindsGpusWithoutNodesAndNodesWithoutGpus) {
  SysfsTree pci_only;
  pci_only.add_gpu("pci0000:00/0000:00:01.0", "1");
  SysfsTree nodes_only;
  nodes_only.add_nodes({0, 1});

  const auto gpus = read_topology_under(pci_only.root());
  const auto nodes = read_topology_under(nodes_only.root());

  ASSERT_EQ(gpus.gpus.size(), 1U);
  EXPECT_FALSE(gpus.gpus[0].numa.has_value());
  EXPECT_TRUE(has_note(gpus, "/sys/devices/system/node"));
  EXPECT_EQ(nodes.numa_nodes.size(), 2U);
  EXPECT_TRUE(has_note(nodes, "no NVIDIA GPU"));
}

TEST(MachineSysfs, SurvivesDanglingLinksAndFoldersInTheirPlace) {
  SysfsTree tree;
  add_machine(tree);
  const auto devices = tree.root() / "sys/bus/pci/devices";
  std::filesystem::create_symlink("../../../devices/gone", devices / "0000:f0:00.0");
  std::filesystem::create_symlink("0000:f1:00.0", devices / "0000:f1:00.0");
  tree.write("sys/bus/pci/devices/0000:f2:00.0/vendor", "0x10de");
  tree.write("sys/bus/pci/devices/0000:f2:00.0/class", "0x030200");
  tree.write("sys/bus/pci/devices/nonsense/vendor", "0x10de");

  const auto topology = read_topology_under(tree.root());

  // A folder tells nothing of what is above it.
  ASSERT_EQ(topology.gpus.size(), 5U);
  EXPECT_FALSE(topology.gpus[4].root.has_value());
  EXPECT_EQ(topology.path(0, 4), PathType::unknown);
}

TEST(MachineSysfs, RefusesARootThatIsNoFolder) {
  EXPECT_THROW((void)read_topology_under("/dev/null"), Error);
  EXPECT_THROW((void)read_topology_under("/nowhere/at/all"), Error);
}

}  // namespace
}  // namespace lanewise
