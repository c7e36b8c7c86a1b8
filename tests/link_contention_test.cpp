// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "contention.hpp"

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
