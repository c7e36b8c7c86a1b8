// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/topology_facts.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace lanewise {
namespace {

// One switch a pair of GPUs, each GPU x16 below an uplink of x16.
Topology pairs(std::size_t switches, std::uint16_t device) {
  Topology topology;
  topology.roots = {{}};
  for (std::size_t index = 0; index < switches; ++index) {
    const auto bus = static_cast<std::uint8_t>(16 * (index + 1));
    topology.bridges.push_back({.address = {0, bus, 0, 0},
                                .vendor = 0x1000,
                                .device = device,
                                .link = {5, 16},
                                .root = 0});
    for (std::uint8_t gpu = 1; gpu <= 2; ++gpu)
      topology.gpus.push_back({.address = {0, static_cast<std::uint8_t>(bus + gpu), 0, 0},
                               .device = 0x2bb5,
                               .link = {5, 16},
                               .bridge = index,
                               .root = 0});
  }
  return topology;
}

TEST(CollapsingSwitch, IsAPex890WithSeveralUplinksAndTwoGpusEach) {
  EXPECT_TRUE(has_collapsing_switch(pairs(2, 0xc030)));
  EXPECT_TRUE(has_collapsing_switch(pairs(4, 0xc034)));
}

TEST(CollapsingSwitch, IsNoOtherSwitchAndNotOneAlone) {
  EXPECT_FALSE(has_collapsing_switch(pairs(2, 0xc010)));
  EXPECT_FALSE(has_collapsing_switch(pairs(1, 0xc030)));
  EXPECT_FALSE(has_collapsing_switch({}));
}

TEST(CollapsingSwitch, NeedsTwoGpusOnEachOfTwo) {
  auto topology = pairs(3, 0xc030);
  std::erase_if(topology.gpus, [](const Gpu& gpu) { return gpu.address.bus % 16 == 2; });

  EXPECT_FALSE(has_collapsing_switch(topology));
}

TEST(SharedUplink, TellsHowMuchTheGpusOversubscribeIt) {
  auto topology = pairs(2, 0xc010);
  topology.bridges[1].link.width = 8;

  const auto uplinks = shared_uplinks(topology);

  ASSERT_EQ(uplinks.size(), 2U);
  EXPECT_EQ(uplinks[0].gpus, (std::vector<std::size_t>{0, 1}));
  EXPECT_NEAR(uplinks[0].oversubscription.value(), 2.0, 1e-9);
  EXPECT_NEAR(uplinks[1].oversubscription.value(), 4.0, 1e-9);
}

TEST(SharedUplink, CountsNoMoreThanTheSlotsCarry) {
  auto topology = pairs(1, 0xc010);
  for (auto& gpu : topology.gpus) gpu.slot = {4, 16};  // Gen5 cards in Gen4 slots

  EXPECT_NEAR(shared_uplinks(topology).at(0).oversubscription.value(), 1.0, 1e-9);
}

TEST(SharedUplink, CountsGpusBehindSwitchesBelow) {
  auto topology = pairs(2, 0xc010);
  topology.bridges[1].parent = 0;

  EXPECT_EQ(shared_uplinks(topology).at(0).gpus.size(), 4U);
}

TEST(SharedUplink, LeavesTheRatioOpenWhereALinkIsUnknown) {
  auto topology = pairs(1, 0xc010);
  topology.gpus[1].link = {};

  EXPECT_FALSE(shared_uplinks(topology).at(0).oversubscription.has_value());
}

TEST(NvlinkAbility, IsReadFromTheModelOrItsChip) {
  EXPECT_EQ(can_have_nvlink(Gpu{.device = 0x2204}), NvlinkAbility::yes);      // RTX 3090
  EXPECT_EQ(can_have_nvlink(Gpu{.device = 0x2335}), NvlinkAbility::yes);      // H200
  EXPECT_EQ(can_have_nvlink(Gpu{.device = 0x2bb1}), NvlinkAbility::no);       // RTX PRO 6000
  EXPECT_EQ(can_have_nvlink(Gpu{.device = 0x26ff}), NvlinkAbility::no);       // some AD102
  EXPECT_EQ(can_have_nvlink(Gpu{.device = 0x2c7f}), NvlinkAbility::no);       // some GB203
  EXPECT_EQ(can_have_nvlink(Gpu{.device = 0x4000}), NvlinkAbility::unknown);  // of the future
  EXPECT_EQ(can_have_nvlink(Gpu{.vendor = 0x1002, .device = 0x2335}), NvlinkAbility::no);
}

TEST(NvlinkAbility, YieldsToEvidence) {
  EXPECT_EQ(can_have_nvlink(Gpu{.device = 0x4000, .nvlinks = 2}), NvlinkAbility::yes);
}

TEST(NvlinkAbility, OfAMachineIsNoOnlyWhereEveryGpuSaysSo) {
  auto topology = pairs(1, 0xc010);
  EXPECT_EQ(can_have_nvlink(topology), NvlinkAbility::no);
  topology.gpus[0].device = 0x4000;
  EXPECT_EQ(can_have_nvlink(topology), NvlinkAbility::unknown);
  topology.gpus[1].device = 0x2204;
  EXPECT_EQ(can_have_nvlink(topology), NvlinkAbility::yes);
  EXPECT_EQ(can_have_nvlink(Topology{}), NvlinkAbility::unknown);
  EXPECT_EQ(can_have_nvlink(Topology{.nvswitches = 1}), NvlinkAbility::yes);
}

TEST(GpuModels, KnowTheModelsOfOurUsers) {
  struct Known {
    std::uint16_t device;
    std::string_view words;
    int compute_capability;
  };
  for (const auto& known : {Known{0x2330, "H100", 90},      Known{0x2335, "H200", 90},
                            Known{0x2901, "B200", 100},     Known{0x20b2, "A100", 80},
                            Known{0x2230, "A6000", 86},     Known{0x26b9, "L40S", 89},
                            Known{0x26ba, "L20", 89},       Known{0x27b8, "L4", 89},
                            Known{0x2237, "A10G", 86},      Known{0x1eb8, "T4", 75},
                            Known{0x1db5, "V100", 70},      Known{0x2204, "3090", 86},
                            Known{0x2684, "4090", 89},      Known{0x2b85, "5090", 120},
                            Known{0x2bb1, "PRO 6000", 120}, Known{0x2bb4, "PRO 6000", 120},
                            Known{0x2bb5, "PRO 6000", 120}, Known{0x2331, "H100", 90},
                            Known{0x233b, "H200 NVL", 90},  Known{0x20b5, "A100", 80},
                            Known{0x26b1, "6000 Ada", 89},  Known{0x2235, "A40", 86},
                            Known{0x2c31, "PRO 4500", 120}, Known{0x31c2, "GB300", 103}}) {
    const auto model = find_gpu_model(known.device);
    ASSERT_TRUE(model.has_value()) << known.words;
    EXPECT_NE(model->name.find(known.words), std::string_view::npos) << model->name;
    EXPECT_EQ(model->compute_capability, known.compute_capability) << model->name;
  }
}

// A wrong "no" here would let the wave model answer over NVLink.
TEST(NvlinkAbility, IsNeverDeniedToACardThatTakesABridgeOrSitsOnABoard) {
  for (const auto device : std::initializer_list<std::uint16_t>{
           0x2203, 0x2204,                                  // RTX 3090 Ti, 3090
           0x2230, 0x2231, 0x2232, 0x2233, 0x2235,          // RTX A6000, A5000, A4500, A5500, A40
           0x1e02, 0x1e04, 0x1e07, 0x1e30, 0x1e36, 0x1eb0,  // TITAN RTX, 2080 Ti, Quadro RTX
           0x1db1, 0x1db5, 0x1db8, 0x1dba, 0x1df5,          // V100 SXM, Quadro GV100
           0x20b0, 0x20b1, 0x20b2, 0x20b3, 0x20b5, 0x20f1,  // A100 SXM and PCIe
           0x20b7, 0x20bd, 0x20f3, 0x20f5, 0x20f6,          // A30, A800
           0x2321, 0x2322, 0x2324, 0x2329, 0x2330, 0x2331,  // H100 NVL, H800, H20, H100
           0x2335, 0x2336, 0x2339, 0x233a, 0x233b, 0x2342,  // H200, H800 NVL, H200 NVL, GH200
           0x2901, 0x2941, 0x29bc, 0x3182, 0x31c2}) {       // B200, GB200, B100, B300, GB300
    EXPECT_EQ(find_nvlink_ability(0x10de, device), NvlinkAbility::yes) << std::hex << device;
  }
}

TEST(NvlinkAbility, IsDeniedToTheCardsOfOurUsersThatHaveNone) {
  for (const auto device : std::initializer_list<std::uint16_t>{
           0x2bb1, 0x2bb4, 0x2bb5, 0x2b85, 0x2684, 0x26b1, 0x26b5, 0x26b9, 0x26ba, 0x27b8, 0x2236,
           0x2237, 0x24b0, 0x2206, 0x1eb8, 0x1db4, 0x1db6}) {
    EXPECT_EQ(find_nvlink_ability(0x10de, device), NvlinkAbility::no) << std::hex << device;
  }
}

TEST(NvlinkAbility, IsUnknownForUnlistedCardsOfChipsThatAreOnBothKinds) {
  EXPECT_EQ(find_nvlink_ability(0x10de, 0x2238), NvlinkAbility::unknown);  // A10M, a GA102
  EXPECT_EQ(find_nvlink_ability(0x10de, 0x1e37), NvlinkAbility::unknown);  // T10, a TU102
  EXPECT_EQ(find_nvlink_ability(0x10de, 0x2ca0), NvlinkAbility::unknown);  // no chip's known range
  EXPECT_EQ(find_nvlink_ability(0x10de, 0x3000), NvlinkAbility::unknown);  // GR100
}

TEST(GpuModels, DoNotGuess) {
  EXPECT_FALSE(find_gpu_model(0).has_value());
  EXPECT_FALSE(find_gpu_model(0xffff).has_value());
}

TEST(FlatTree, IsTwoGpusSideBySideOnOneBus) {
  Topology topology;
  topology.gpus = {{.address = {0, 0, 5, 0}}, {.address = {0, 0, 6, 0}}};
  EXPECT_TRUE(is_flat(topology));
  topology.gpus[1].address.domain = 1;
  EXPECT_FALSE(is_flat(topology));
  EXPECT_FALSE(is_flat(pairs(2, 0xc030)));
}

TEST(Homogeneous, IsOneDeviceId) {
  auto topology = pairs(2, 0xc030);
  EXPECT_TRUE(is_homogeneous(topology));
  topology.gpus[3].device = 0x2bb1;
  EXPECT_FALSE(is_homogeneous(topology));
  EXPECT_TRUE(is_homogeneous({}));
}

}  // namespace
}  // namespace lanewise
