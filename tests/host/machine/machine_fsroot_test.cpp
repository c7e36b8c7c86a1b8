// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"
#include "lspci_tree.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

std::filesystem::path archive_of(const std::string& name) {
  return testing::third_party_file("topologies/fsroot/" + name + ".tar.bz2");
}

struct Machine {
  std::string archive;
  std::string folder;
  std::string gpu;  // a function of it to turn into a GPU; empty where it has no PCI tree
  std::size_t numa_nodes = 0;
  std::optional<int> numa;  // of that function
};

void PrintTo(const Machine& machine, std::ostream* stream) { *stream << machine.archive; }

class RealSysfs : public ::testing::TestWithParam<Machine> {};

TEST_P(RealSysfs, IsReadWithoutAWordAndWithItsNodes) {
  const auto& machine = GetParam();
  const auto archive = archive_of(machine.archive);
  SysfsTree tree;
  const auto command = "tar xjf '" + archive.string() + "' -C '" + tree.root().string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto device = machine.folder + "/sys/bus/pci/devices/" + machine.gpu;
  if (!machine.gpu.empty()) {
    std::filesystem::permissions(tree.root() / device, std::filesystem::perms::owner_all);
    for (const auto& [name, value] :
         SysfsTree::Attributes{{"vendor", "0x10de"}, {"device", "0x2bb5"}, {"class", "0x030200"}}) {
      std::filesystem::remove(tree.root() / device / name);
      tree.write(device + "/" + name, value);
    }
  }
  ::testing::internal::CaptureStderr();

  const auto topology = host::read_topology_under(tree.root() / machine.folder);

  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(topology.numa_nodes.size(), machine.numa_nodes);
  ASSERT_EQ(topology.gpus.size(), machine.gpu.empty() ? 0U : 1U);
  if (!machine.gpu.empty()) {
    EXPECT_EQ(to_string(topology.gpus[0].address), machine.gpu);
    EXPECT_EQ(topology.gpus[0].numa, machine.numa);
  }
}

// A GPU whose processors are the whole machine's is on no node.
constexpr auto no_node = std::nullopt;

const std::vector<Machine> archives = {
    {"2pa-pcidomain32bits", "2pa-pcidomain32bits", "10000:00:04.0", 1, 0},
    {"40intel64-2g2n4c+pcilocality", "40intel64-2g2n4c+pci", "0000:00:03.0", 4, no_node},
    {"40intel64-4n10c+pci-conflicts", "40intel64-4n10c+pci-conflicts", "0000:01:00.0", 4, no_node},
    {"fakepcilocalities", "fakepcilocalities", "0000:00:03.0", 4, 0},
    {"nvidiagpunumanodes", "nvidiagpunumanodes", "0004:05:00.0", 2, no_node},
    {"32amd64-4s2n4c-cgroup2", "32amd64-4s2n4c-cgroup", "", 8, no_node},
    {"8em64t-2s2ca2c-buggynuma", "8em64t-2s2ca2c-buggynuma", "", 1, no_node},
    {"nvidia-dgx-gb10", "nvidia-dgx-gb10", "", 1, no_node},
    {"offline-cpu0-node0", "offline-cpu0-node0", "", 1, no_node},
};
std::vector<Machine> present_archives() {
  std::vector<Machine> present;
  for (const Machine& machine : archives)
    if (std::filesystem::exists(archive_of(machine.archive))) present.push_back(machine);
  return present;
}
INSTANTIATE_TEST_SUITE_P(Archives, RealSysfs, ::testing::ValuesIn(present_archives()));
// Trees of ours, made by machine_sysfs_test.cpp, hold the same facts.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RealSysfs);

// The rows "GPU0 X PIX ..." of a file of nvidia-smi topo -m.
std::vector<std::vector<std::string>> read_matrix(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || !word.starts_with("GPU") || line[0] != 'G') continue;
    auto& row = rows.emplace_back();
    while (words >> word) row.push_back(word);
  }
  return rows;
}

// Eight GPUs behind four virtual switches on two sockets, idle at Gen1: what lspci and nvidia-smi
// say of such a machine, written anew.
const auto reference = testing::test_file("data/machines/four_virtual_switches.lspci.txt");
const auto reference_matrix = testing::test_file("data/machines/four_virtual_switches.topo-m.txt");

TEST(ReferenceMachine, HasTheMatrixOfNvidiaSmi) {
  SysfsTree tree;
  tree.add_nodes({0, 1});
  add_lspci(tree, parse_lspci(reference));

  const auto topology = host::read_topology_under(tree.root());

  const auto matrix = read_matrix(reference_matrix);
  ASSERT_EQ(topology.gpus.size(), 8U);
  ASSERT_EQ(matrix.size(), 8U);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column)
      EXPECT_EQ(name_of(topology.path(row, column)), matrix[row][column]) << row << column;
  }
}

TEST(ReferenceMachine, CollapsesAndItsIdleLinksAreFull) {
  SysfsTree tree;
  tree.add_nodes({0, 1});
  add_lspci(tree, parse_lspci(reference));

  const auto topology = host::read_topology_under(tree.root());

  EXPECT_TRUE(has_collapsing_switch(topology));
  ASSERT_EQ(topology.bridges.size(), 4U);
  EXPECT_EQ(to_string(topology.bridges[0].address), "0000:01:00.0");
  for (const auto& gpu : topology.gpus) {
    EXPECT_EQ(gpu.link, (PciLink{5, 16}));
    EXPECT_EQ(gpu.narrowest, (PciLink{5, 16}));
  }
  for (const auto& uplink : shared_uplinks(topology))
    EXPECT_NEAR(uplink.oversubscription.value(), 2.0, 1e-9);
}

TEST(MachineWithManyProcessors, IsOfTheFirstOnesVendor) {
  SysfsTree tree;
  tree.add_nodes({0, 1});
  std::string processors;
  for (int cpu = 0; cpu < 256; ++cpu)
    processors += "processor\t: " + std::to_string(cpu) +
                  "\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nflags\t\t: " +
                  std::string(1500, 'f') + "\n\n";
  tree.write("proc/cpuinfo", processors);
  // hwloc's own file of what uname says.
  tree.write("proc/hwloc-nofile-info", "Architecture: x86_64");

  const auto topology = host::read_topology_under(tree.root());

  EXPECT_EQ(topology.cpu_vendor, "AuthenticAMD");
  EXPECT_EQ(topology.cpu_family, 26);
  EXPECT_EQ(topology.cpu_model, 2);
}

TEST(ReferenceMachine, KeepsItsFingerprintWithOtherBusNumbers) {
  auto functions = parse_lspci(reference);
  SysfsTree tree;
  tree.add_nodes({0, 1});
  add_lspci(tree, functions);
  // A card more on the first root: every bus from 01 to 08 moves up by 0x10.
  const auto move = [](std::string bus) {
    if (bus.size() == 2 && bus[0] == '0' && bus[1] >= '1' && bus[1] <= '8') bus[0] = '1';
    return bus;
  };
  for (auto& function : functions) {
    function.address.replace(5, 2, move(function.address.substr(5, 2)));
    function.secondary = move(function.secondary);
  }
  SysfsTree moved;
  moved.add_nodes({0, 1});
  add_lspci(moved, functions);

  const auto before = host::read_topology_under(tree.root());
  const auto after = host::read_topology_under(moved.root());

  ASSERT_NE(before.gpus.at(0).address, after.gpus.at(0).address);
  EXPECT_EQ(fingerprint(before), fingerprint(after));
}

}  // namespace
}  // namespace lanewise
