// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

struct Machine {
  std::string file;
  std::size_t gpus = 0;
  int pix = 0;
  int pxb = 0;
  int phb = 0;
  int node = 0;
  int sys = 0;
  bool has_nvlink = false;
  bool collapses = false;
  bool is_guest = false;
};

void PrintTo(const Machine& machine, std::ostream* stream) { *stream << machine.file; }

std::filesystem::path path_of(const Machine& machine) {
  const bool is_ours = machine.file.starts_with("data/");
  return is_ours ? testing::test_file(machine.file) : testing::third_party_file(machine.file);
}

int count_pairs(const Topology& topology, PathType wanted) {
  int count = 0;
  for (std::size_t a = 0; a < topology.gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < topology.gpus.size(); ++b) {
      if (topology.path(a, b) == wanted) ++count;
      EXPECT_EQ(topology.path(a, b), topology.path(b, a));
    }
  }
  return count;
}

class KnownMachine : public ::testing::TestWithParam<Machine> {};

TEST_P(KnownMachine, HasItsKnownPairs) {
  const auto& machine = GetParam();

  const auto topology = host::read_topology(path_of(machine));

  EXPECT_EQ(topology.gpus.size(), machine.gpus);
  EXPECT_EQ(count_pairs(topology, PathType::pix), machine.pix);
  EXPECT_EQ(count_pairs(topology, PathType::pxb), machine.pxb);
  EXPECT_EQ(count_pairs(topology, PathType::phb), machine.phb);
  EXPECT_EQ(count_pairs(topology, PathType::node), machine.node);
  EXPECT_EQ(count_pairs(topology, PathType::sys), machine.sys);
  EXPECT_EQ(topology.has_nvlink(), machine.has_nvlink);
  EXPECT_EQ(has_collapsing_switch(topology), machine.collapses);
  EXPECT_EQ(topology.is_guest, machine.is_guest);
  EXPECT_EQ(fingerprint(topology).size(), 16U);
}

// Pair counts as fixtures/topologies/INDEX.md has them, where it does.
const std::array others = {
    Machine{.file = "topologies/16intel64-manyVFs.hwloc2.xml"},
    Machine{.file = "topologies/2x-a6000-nvlink-bridge-numaid-minus1.nccl.xml",
            .gpus = 2,
            .phb = 1,
            .has_nvlink = true},
    Machine{.file = "topologies/2x-rtx4090-epyc-rome-nps4.nccl.xml", .gpus = 2, .sys = 1},
    Machine{
        .file = "topologies/4x-a6000-dual-xeon-skl-gen3.nccl.xml", .gpus = 4, .phb = 2, .sys = 4},
    Machine{.file = "topologies/4x-a6000-one-socket-missing.nccl.xml", .gpus = 2, .phb = 1},
    Machine{.file = "topologies/8x-b200-gvisor-vm-flat-multidomain.nccl.xml",
            .gpus = 8,
            .phb = 12,
            .sys = 16,
            .has_nvlink = true,
            .is_guest = true},
    Machine{.file = "topologies/8x-h800-nvlink-pex890xx.nccl.xml",
            .gpus = 8,
            .phb = 12,
            .sys = 16,
            .has_nvlink = true},
    Machine{.file = "topologies/8x-l20-dual-xeon6-cx8-switch-per-gpu.nccl.xml",
            .gpus = 8,
            .phb = 12,
            .sys = 16},
    Machine{.file = "topologies/96em64t-4n-pci.hwloc2.xml"},
    Machine{.file = "topologies/a6000-nvlink-pair-one-rank-view.nccl.xml",
            .gpus = 1,
            .has_nvlink = true},
    Machine{.file = "topologies/aws-g5.48xl-8x-a10g-vm.nccl-topo.xml"},
    Machine{.file = "topologies/aws-p4d-8x-a100-nvswitch-vm.nccl-topo.xml",
            .gpus = 8,
            .pix = 4,
            .phb = 8,
            .sys = 16},
    Machine{.file = "topologies/azure-ncv4-topo.nccl.xml", .gpus = 4, .sys = 6, .has_nvlink = true},
    Machine{.file = "topologies/azure-ndv2-topo.nccl.xml", .gpus = 8, .phb = 12, .sys = 16},
    Machine{.file = "topologies/azure-ndv4-topo.nccl.xml", .gpus = 8, .pix = 4, .sys = 24},
    Machine{.file = "topologies/azure-ndv5-topo.nccl.xml", .gpus = 8, .phb = 12, .sys = 16},
    Machine{.file = "topologies/nvidia-dgx-spark-gb10.hwloc.xml"},
    Machine{.file = "topologies/nvidia-dgx2-16x-v100.hwloc2.xml",
            .gpus = 16,
            .pix = 8,
            .pxb = 16,
            .node = 32,
            .sys = 64,
            .has_nvlink = true},
    Machine{.file = "topologies/oci-bm-gpu-a100-flattened-nps4.nccl.xml",
            .gpus = 8,
            .pix = 4,
            .sys = 24},
    Machine{.file = "topologies/oci-bm-gpu-h100-8x-pex890xx.nccl.xml",
            .gpus = 8,
            .phb = 12,
            .sys = 16,
            .has_nvlink = true},
    Machine{.file = "topologies/power8-4x-p100.hwloc2.xml",
            .gpus = 4,
            .node = 2,
            .sys = 4,
            .has_nvlink = true},
    Machine{.file = "topologies/rccl-topo_16p1h.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_16p1h_vm.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_3p_pcie.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_3p_pcie_1.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_8p_pcie.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_8p_pcie_1.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_8p_pcie_2nic.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_8p_rome_n4.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_8p_rome_pcie.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_8p_rome_vm1.nccl.xml"},
    Machine{.file = "topologies/rccl-topo_8p_ts1_n4.nccl.xml"},
};

// Small machines of ours: NCCL priced the first eleven, the others have what others' files show.
const std::array ours = {
    Machine{.file = "data/machines/amd1s_2gpu_direct.xml", .gpus = 2, .phb = 1},
    Machine{.file = "data/machines/amd1s_4gpu_direct.xml", .gpus = 4, .phb = 6},
    Machine{.file = "data/machines/amd1s_8gpu_1switch.xml", .gpus = 8, .pix = 28},
    Machine{.file = "data/machines/amd1s_8gpu_2switch.xml",
            .gpus = 8,
            .pix = 12,
            .phb = 16,
            .collapses = true},
    Machine{.file = "data/machines/intel1s_2gpu_x8.xml", .gpus = 2, .phb = 1},
    Machine{.file = "data/machines/rome2s_8x4090_direct.xml", .gpus = 8, .phb = 12, .sys = 16},
    Machine{.file = "data/machines/spr2s_8gpu_4switch.xml",
            .gpus = 8,
            .pix = 4,
            .phb = 8,
            .sys = 16,
            .collapses = true},
    Machine{.file = "data/machines/spr2s_8gpu_direct.xml", .gpus = 8, .phb = 12, .sys = 16},
    Machine{.file = "data/machines/turin2s_8gpu_2switch.xml",
            .gpus = 8,
            .pix = 12,
            .sys = 16,
            .collapses = true},
    Machine{.file = "data/machines/turin2s_8gpu_direct.xml", .gpus = 8, .phb = 12, .sys = 16},
    Machine{.file = "data/machines/vm_flat_8gpu.xml", .gpus = 8, .phb = 28, .is_guest = true},
    Machine{.file = "data/machines/a6000_pair_with_bridge.xml",
            .gpus = 2,
            .phb = 1,
            .has_nvlink = true},
    Machine{.file = "data/machines/one_rank_of_a_pair.xml", .gpus = 1, .has_nvlink = true},
    Machine{.file = "data/machines/numa_nodes_out_of_order.xml", .gpus = 2, .sys = 1},
    Machine{.file = "data/machines/guest_of_two_domains.xml",
            .gpus = 4,
            .phb = 2,
            .sys = 4,
            .has_nvlink = true,
            .is_guest = true},
    Machine{.file = "data/machines/a_switch_for_each_gpu.xml", .gpus = 4, .phb = 2, .sys = 4},
    Machine{.file = "data/machines/gpus_known_by_class_alone.xml", .gpus = 2, .pix = 1},
    Machine{.file = "data/machines/amd_gpus.xml"},
};

std::vector<Machine> machines() {
  std::vector<Machine> found(ours.begin(), ours.end());
  for (const Machine& machine : others)
    if (std::filesystem::exists(path_of(machine))) found.push_back(machine);
  return found;
}
INSTANTIATE_TEST_SUITE_P(Files, KnownMachine, ::testing::ValuesIn(machines()));

}  // namespace
}  // namespace lanewise
