// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/machine_facts.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

constexpr std::uint16_t rtx_pro_6000 = 0x2bb5;
constexpr std::uint16_t rtx_4090 = 0x2684;
constexpr std::uint16_t h200 = 0x2335;

Topology machine_of(std::initializer_list<std::uint16_t> devices) {
  Topology topology;
  for (const auto device : devices) {
    Gpu gpu;
    gpu.device = device;
    gpu.address.bus = static_cast<std::uint8_t>(16 * (topology.gpus.size() + 1));
    topology.gpus.push_back(gpu);
  }
  return topology;
}

PolicyInputs facts_of(const Topology& topology, int ranks = 2,
                      GpuSelection selection = GpuSelection::unknown) {
  PolicyInputs inputs;
  inputs.ranks = ranks;
  add_machine_facts(inputs, topology, selection);
  return inputs;
}

TEST(MachineFacts, KnowsNothingOfAMachineWithoutGpus) {
  const PolicyInputs inputs = facts_of(Topology{});

  EXPECT_EQ(inputs.nvlink, NvlinkKnowledge::unknown);
  EXPECT_EQ(inputs.switches, SwitchKnowledge::unknown);
  EXPECT_EQ(inputs.models, GpuModels::unknown);
}

TEST(MachineFacts, ExcludesNvlinkByModelAndNeverClaimsIt) {
  EXPECT_EQ(facts_of(machine_of({rtx_pro_6000, rtx_pro_6000})).nvlink, NvlinkKnowledge::impossible);
  EXPECT_EQ(facts_of(machine_of({h200, h200})).nvlink, NvlinkKnowledge::unknown);
}

TEST(MachineFacts, TellsSwitchesThatCollapseFromSoundOnes) {
  Topology topology = machine_of({rtx_pro_6000, rtx_pro_6000, rtx_pro_6000, rtx_pro_6000});
  topology.bridges = {{.vendor = 0x1000, .device = 0xc030}, {.vendor = 0x1000, .device = 0xc030}};
  for (std::size_t gpu = 0; gpu < 4; ++gpu) topology.gpus[gpu].bridge = gpu / 2;
  EXPECT_EQ(facts_of(topology, 4).switches, SwitchKnowledge::collapsing);

  topology.bridges[0].device = topology.bridges[1].device = 0xc010;
  EXPECT_EQ(facts_of(topology, 4).switches, SwitchKnowledge::sound);
}

TEST(MachineFacts, SaysThatModelsDifferOnlyWhereEveryGpuTakesPart) {
  const Topology mixed = machine_of({rtx_pro_6000, rtx_4090});

  EXPECT_EQ(facts_of(mixed, 2).models, GpuModels::differ);
  EXPECT_EQ(facts_of(mixed, 4).models, GpuModels::unknown);
  EXPECT_EQ(facts_of(mixed, 4, GpuSelection::known).models, GpuModels::differ);
  EXPECT_EQ(facts_of(machine_of({rtx_4090, rtx_4090})).models, GpuModels::same);
}

TEST(MachineFacts, TellsWhoSharesGpusOnlyWhereEveryAddressIsKnown) {
  const std::optional<PciAddress> a = PciAddress{0, 1, 0, 0};
  const std::optional<PciAddress> b = PciAddress{0, 2, 0, 0};

  EXPECT_EQ(find_sharing({a, b}), GpuSharing::one_rank_a_gpu);
  EXPECT_EQ(find_sharing({b, a, b}), GpuSharing::shared);
  EXPECT_EQ(find_sharing({a, std::nullopt, a}), std::nullopt);
  EXPECT_EQ(find_sharing({}), std::nullopt);
}

}  // namespace
}  // namespace lanewise
