// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// How a machine is read, whatever is in it: what reading touches, and what it does not depend on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "host/machine/topology_source.hpp"
#include "sysfs_tree.hpp"

namespace lanewise {
namespace {

using host::read_topology_under;

// Each word of it takes a virtual machine tens of microseconds, under a lock that all ranks share.
TEST(MachineReading, NeverReadsConfigurationSpace) {
  SysfsTree tree;
  add_machine(tree);
  const auto config = tree.root() / "sys/bus/pci/devices/0000:03:00.0/config";
  ASSERT_EQ(::mkfifo(config.c_str(), 0600), 0);
  // Nobody can open the other end to write unless someone is reading.
  std::atomic<bool> is_done = false;
  bool is_read = false;
  std::thread watch([&] {
    while (!is_done) is_read |= ::open(config.c_str(), O_WRONLY | O_NONBLOCK) >= 0;
  });

  const auto topology = read_topology_under(tree.root());
  is_done = true;
  watch.join();

  EXPECT_EQ(topology.gpus.size(), 4U);
  EXPECT_FALSE(is_read);
}

TEST(MachineReading, GivesTheSameAnswerWhateverTheProcessMayUse) {
  SysfsTree tree;
  add_machine(tree);
  const auto expected = read_topology_under(tree.root());
  const auto this_machine = host::read_topology();

  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(read_topology_under(tree.root()), expected);
    EXPECT_EQ(host::read_topology(), this_machine);
  }).join();
}

TEST(MachineReading, IgnoresTheEnvironment) {
  SysfsTree tree;
  SysfsTree other;
  add_machine(tree);
  const auto expected = read_topology_under(tree.root());
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "HWLOC_COMPONENTS", "HWLOC_SYNTHETIC",
                           "HWLOC_FSROOT", "HWLOC_XMLFILE", "HWLOC_PCI_LOCALITY"})
    ::setenv(name, name == std::string("HWLOC_SYNTHETIC") ? "node:3 pu:2" : other.root().c_str(),
             1);

  EXPECT_EQ(read_topology_under(tree.root()), expected);
}

TEST(MachineReading, WritesNothingToStderr) {
  SysfsTree tree;
  // No CPU folder: hwloc complains about that, by default.
  tree.add_gpu("pci0000:00/0000:00:01.0");
  ::testing::internal::CaptureStderr();

  (void)read_topology_under(tree.root());
  (void)host::read_topology();

  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(MachineReading, ReadsInSeveralThreadsAtOnce) {
  SysfsTree one;
  SysfsTree other;
  add_machine(one);
  other.add_nodes({0});
  other.add_gpu("pci0000:00/0000:00:01.0");
  const auto expected = read_topology_under(one.root());
  std::vector<std::thread> threads;

  for (int index = 0; index < 8; ++index)
    threads.emplace_back([&, index] {
      const auto topology = read_topology_under(index % 2 == 0 ? one.root() : other.root());
      EXPECT_EQ(topology.gpus.size(), index % 2 == 0 ? 4U : 1U);
      if (index % 2 == 0) {
        EXPECT_EQ(topology, expected);
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace lanewise
