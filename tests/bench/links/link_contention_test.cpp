// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "links/contention.hpp"

namespace lanewise::bench {
namespace {

using Uplinks = std::vector<std::optional<std::size_t>>;

TEST(Contention, LetsAllGpusOfAnUplinkWriteToOneOtherAndToSeveral) {
  const auto scenarios = shared_uplink_scenarios(Uplinks{7, 7, 8, 8, 9, 9});

  ASSERT_EQ(scenarios.size(), 6U);
  EXPECT_EQ(scenarios[0], (Scenario{"to one uplink", {{0, 2}, {1, 3}}}));
  EXPECT_EQ(scenarios[1], (Scenario{"to several uplinks", {{0, 2}, {1, 4}}}));
}

TEST(Contention, ReadersTakeTurnsWhereTheyAreFewer) {
  const auto scenarios = shared_uplink_scenarios(Uplinks{1, 1, 1, 2});

  ASSERT_EQ(scenarios.size(), 1U);
  EXPECT_EQ(scenarios[0].flows, (std::vector<Flow>{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(Contention, IsNotMeasuredWhereNoUplinkIsShared) {
  EXPECT_TRUE(shared_uplink_scenarios(Uplinks{1, 2, std::nullopt, std::nullopt}).empty());
  EXPECT_TRUE(shared_uplink_scenarios(Uplinks{1, 1}).empty());
}

TEST(Contention, FindsTheRootPortAboveEachDevice) {
  Topology machine;
  machine.bridges.resize(3);
  machine.bridges[1].parent = 0;
  machine.bridges[2].parent = 1;
  machine.gpus.resize(2);
  machine.gpus[0].address = {0, 0xc1, 0, 0};
  machine.gpus[0].bridge = 2;
  machine.gpus[1].address = {0, 0xd1, 0, 0};

  EXPECT_EQ(uplinks_of(machine, {"0000:D1:00.0", "0000:C1:00.0", "0000:E1:00.0", "?"}),
            (Uplinks{std::nullopt, 0, std::nullopt, std::nullopt}));
}

TEST(Contention, TriesEveryTwoGpusWhereTheTreeIsUnknown) {
  EXPECT_TRUE(pairwise_scenarios(2).empty());
  EXPECT_EQ(pairwise_scenarios(3).size(), 3U);
  EXPECT_EQ(pairwise_scenarios(8).size(), 28U);
}

TEST(Contention, NeverLetsAGpuBothWriteAndRead) {
  for (std::size_t gpus = 4; gpus <= 16; ++gpus) {
    for (const Scenario& scenario : pairwise_scenarios(gpus)) {
      const Flow& a = scenario.flows.front();
      const Flow& b = scenario.flows.back();

      EXPECT_TRUE(a.from != b.from && a.to != b.to) << to_string(a) << " " << to_string(b);
      EXPECT_TRUE(a.to != a.from && a.to != b.from && b.to != a.from && b.to != b.from);
    }
  }
}

}  // namespace
}  // namespace lanewise::bench
