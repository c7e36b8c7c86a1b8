// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "core/error.hpp"
#include "doctor_tree.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;

TEST(DoctorMachine, SaysWhatIsHiddenWhereThereIsNoSys) {
  SysfsTree tree;
  host::DoctorRequest request;
  request.root = tree.root();

  const auto report = host::examine(request).report;

  const auto* finding = find(report, "machine-hidden");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("/sys/bus/pci/devices"), std::string::npos);
  EXPECT_EQ(exit_status_of(report, Strictness::lenient), 0);
  EXPECT_EQ(exit_status_of(report, Strictness::strict), 1);
}

TEST(DoctorMachine, TakesAGuestsTreeForWhatItIs) {
  DoctorTree tree;
  tree.write("proc/cpuinfo",
             "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor vme\n");
  tree.set_acs(tree.port(0, 1), 0x001d);

  const auto report = tree.examine();

  EXPECT_TRUE(has(report, "guest-topology"));
  EXPECT_FALSE(has(report, "acs-redirect"));
  EXPECT_EQ(exit_status_of(report, Strictness::strict), 0) << names_of(report);
}

struct NumaCase {
  std::string text;
  bool is_found;
};

TEST(DoctorMachine, FindsGpusWithoutANumaNode) {
  for (const auto& numa_case :
       {NumaCase{"-1", true}, NumaCase{"garbage", true}, NumaCase{"0", false}}) {
    SysfsTree tree;
    tree.add_nodes({0, 1});
    tree.write("proc/driver/nvidia/version", "NVRM");
    tree.add_gpu("pci0000:00/0000:00:01.0", numa_case.text);
    tree.add_gpu("pci0000:00/0000:00:02.0", numa_case.text);
    host::DoctorRequest request;
    request.root = tree.root();

    EXPECT_EQ(has(host::examine(request).report, "numa-unknown"), numa_case.is_found)
        << numa_case.text;
  }
}

TEST(DoctorMachine, TakesAnUnknownNodeForTheOnlyOne) {
  SysfsTree tree;
  tree.add_nodes({0});
  tree.write("proc/driver/nvidia/version", "NVRM");
  tree.add_gpu("pci0000:00/0000:00:01.0", "-1");
  tree.add_gpu("pci0000:00/0000:00:02.0", "-1");
  host::DoctorRequest request;
  request.root = tree.root();

  EXPECT_FALSE(has(host::examine(request).report, "numa-unknown"));
}

TEST(DoctorMachine, FindsANodeWithoutMemory) {
  DoctorTree tree;
  tree.write("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:       0 kB");

  const auto report = tree.examine();

  const auto* finding = find(report, "numa-memoryless");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->title.find("GPU4, GPU5, GPU6, GPU7"), std::string::npos) << finding->title;
}

TEST(DoctorMachine, FindsSettingsThatSavePower) {
  DoctorTree tree;
  tree.write("proc/sys/kernel/numa_balancing", "1");
  tree.write("sys/module/pcie_aspm/parameters/policy",
             "default performance [powersave] powersupersave");
  const std::string folder = "sys/devices/system/cpu/cpu0/cpufreq/";
  tree.write(folder + "scaling_governor", "powersave");
  tree.write(folder + "scaling_driver", "acpi-cpufreq");

  const auto report = tree.examine();

  EXPECT_TRUE(has(report, "numa-balancing"));
  EXPECT_TRUE(has(report, "aspm-powersave"));
  EXPECT_TRUE(has(report, "cpu-powersave"));
  tree.write(folder + "scaling_driver", "amd-pstate-epp");
  EXPECT_FALSE(has(tree.examine(), "cpu-powersave"));
}

TEST(DoctorMachine, NamesMixedModels) {
  DoctorTree tree;
  tree.write(tree.gpu(7) + "/device", "0x2230");

  const auto report = tree.examine();

  ASSERT_TRUE(has(report, "mixed-gpus"));
  EXPECT_NE(find(report, "mixed-gpus")->title.find("RTX A6000"), std::string::npos);
}

struct ShmCase {
  std::string mounts;
  std::string finding;  // empty: none
};

TEST(DoctorMachine, WeighsSharedMemoryAgainstItsNeed) {
  const std::vector<ShmCase> cases = {
      {"shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0", "shm-small"},
      {"shm /dev/shm tmpfs rw,size=64m 0 0", "shm-small"},
      {"shm /dev/shm tmpfs rw,size=1g 0 0", ""},
      {"shm /dev/shm tmpfs rw,size=50% 0 0", ""},
      {"shm /dev/shm tmpfs ro,size=1g 0 0", "shm-read-only"},
      {"shm /dev/shm tmpfs rw,size=64m 0 0\nshm /dev/shm tmpfs rw,size=1g 0 0", ""},
      {"proc /proc proc rw 0 0", "shm-missing"},
  };
  for (const auto& shm_case : cases) {
    DoctorTree tree;
    tree.write("proc/self/mounts", shm_case.mounts);

    const auto report = tree.examine();

    EXPECT_EQ(exit_status_of(report, Strictness::strict), shm_case.finding.empty() ? 0 : 2)
        << shm_case.mounts << ": " << names_of(report);
    EXPECT_TRUE(shm_case.finding.empty() || has(report, shm_case.finding)) << shm_case.mounts;
  }
}

// What is left there counts for a job to come; one that runs has its segments already.
TEST(DoctorMachine, FindsSharedMemoryThatLeftOversFill) {
  DoctorTree tree;
  tree.add_process(7, {}, {});
  auto request = tree.request();
  request.shm = host::Space{.total = 1LL << 30, .free = 1LL << 20};

  EXPECT_TRUE(has(host::examine(request).report, "shm-full"));
  request.pid = 7;
  EXPECT_FALSE(has(host::examine(request).report, "shm-full"));
  request.pid.reset();
  request.shm->free = 1LL << 30;
  EXPECT_FALSE(has(host::examine(request).report, "shm-full"));
}

TEST(DoctorMachine, SaysThatThereIsNoGpu) {
  SysfsTree tree;
  tree.add_nodes({0});
  tree.add_bridge("pci0000:00/0000:00:01.1");
  host::DoctorRequest request;
  request.root = tree.root();

  const auto report = host::examine(request).report;

  EXPECT_EQ(names_of(report), "no-gpu ");
  EXPECT_EQ(exit_status_of(report, Strictness::strict), 0);
}

TEST(DoctorMachine, SaysThatTheDriverDoesNotShowItself) {
  DoctorTree tree;
  std::filesystem::remove(tree.root() / "proc/driver/nvidia/version");

  EXPECT_TRUE(has(tree.examine(), "driver-unknown"));
}

// As machines whose GPU names a node that the kernel does not have.
TEST(DoctorMachine, SaysThatTheFirmwareContradictsItself) {
  DoctorTree tree;
  tree.write(tree.gpu(3) + "/numa_node", "9");

  const auto report = tree.examine();

  const auto* finding = find(report, "locality-untrusted");
  ASSERT_NE(finding, nullptr) << names_of(report);
  EXPECT_NE(finding->seen.front().value.find(tree.address(tree.gpu(3)) + ": numa_node 9"),
            std::string::npos)
      << finding->seen.front().value;
}

// NPS4 and the like: one socket's GPUs on several of its nodes.
TEST(DoctorMachine, NotesGpusThatAreSpreadOverTheNodesOfASocket) {
  const auto examine_with = [](const std::string& node_of_fourth) {
    SysfsTree tree;
    tree.add_nodes({0, 1});
    for (const char* cpu : {"2", "3"})
      tree.write(std::string("sys/devices/system/cpu/cpu") + cpu + "/topology/physical_package_id",
                 "0");
    for (const char* cpu : {"0", "1", "2", "3"})
      tree.write(std::string("sys/devices/system/cpu/cpu") + cpu + "/topology/package_cpus",
                 "0000000f");
    tree.write("proc/driver/nvidia/version", "NVRM");
    for (int gpu = 0; gpu < 4; ++gpu)
      tree.add_gpu("pci0000:00/0000:00:0" + std::to_string(gpu + 1) + ".0",
                   gpu == 3 ? node_of_fourth : "0");
    host::DoctorRequest request;
    request.root = tree.root();
    return host::examine(request).report;
  };

  EXPECT_TRUE(has(examine_with("1"), "numa-split"));
  EXPECT_FALSE(has(examine_with("0"), "numa-split"));
}

// The driver maps at most eight peers of a GPU.
TEST(DoctorMachine, NotesMorePeersThanADriverMaps) {
  const auto examine_with = [](int gpus) {
    SysfsTree tree;
    tree.add_nodes({0});
    tree.write("proc/driver/nvidia/version", "NVRM");
    for (int gpu = 0; gpu < gpus; ++gpu)
      tree.add_gpu("pci0000:00/0000:00:" + std::to_string(10 + gpu) + ".0");
    host::DoctorRequest request;
    request.root = tree.root();
    return host::examine(request).report;
  };

  EXPECT_FALSE(has(examine_with(9), "peer-limit"));
  EXPECT_TRUE(has(examine_with(10), "peer-limit"));
}

TEST(DoctorMachine, MindsLockedMemoryOnlyBesideANetworkAdapter) {
  DoctorTree tree;
  tree.write("proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max locked memory         65536                65536                bytes     ");

  EXPECT_FALSE(has(tree.examine(), "memlock-small"));
  tree.write("sys/class/infiniband/mlx5_0/node_type", "1: CA");
  EXPECT_TRUE(has(tree.examine(), "memlock-small"));
}

TEST(DoctorMachine, SurvivesFilesThatAreNoFiles) {
  DoctorTree tree;
  for (const char* file : {"proc/cmdline", "proc/driver/nvidia/params", "proc/self/mounts"}) {
    fs::remove(tree.root() / file);
    fs::create_directories(tree.root() / file);
  }
  tree.write(tree.gpu(0) + "/resource", "0x 0x\n0xzz");
  tree.write(tree.gpu(0) + "/resource1_resize", "-");
  tree.write_bytes(tree.port(0, 1) + "/config", std::string(4096, '\xff'));
  tree.write("nvidia-smi/topo-p2p.txt", "GPU0 X OK OK\nGPU1 OK\n");
  tree.write("nvidia-smi/query.csv", "garbage\n,,,,,\n");

  EXPECT_EQ(exit_status_of(tree.examine(), Strictness::lenient), 0);
}

TEST(DoctorMachine, RefusesARootThatIsNone) {
  host::DoctorRequest request;
  request.root = "/nonexist";

  EXPECT_THROW((void)host::examine(request), Error);
}

TEST(DoctorMachine, NamesEachKindOnceAndGivesEachAReasonAndAFix) {
  std::set<std::string_view> names;
  for (const auto& check : host::check_descriptions()) {
    for (const auto& kind : check.kinds) {
      EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
      EXPECT_FALSE(kind.title.empty()) << kind.name;
      EXPECT_FALSE(kind.why.empty()) << kind.name;
      EXPECT_FALSE(kind.fix.empty()) << kind.name;
    }
  }
  EXPECT_GT(names.size(), 50U);
}

}  // namespace
}  // namespace lanewise
