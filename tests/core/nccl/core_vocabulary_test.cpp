// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <array>

#include "core/error.hpp"
#include "core/nccl/cost_table.hpp"
#include "core/nccl/nccl_release.hpp"
#include "core/profile/rules.hpp"

namespace lanewise {
namespace {

TEST(CostTable, NeverRevivesACellNcclIgnored) {
  std::array<float, 21> costs;
  costs.fill(-1024.0F);
  CostTable table(costs.data(), 7, 3);

  EXPECT_FALSE(table.prefer(Algorithm::ring, Protocol::ll));

  EXPECT_EQ(costs[3], -1024.0F);
}

TEST(CostTable, StockPickIsTheCheapestAndTheFirstOnATie) {
  std::array<float, 21> costs;
  costs.fill(-1.0F);
  costs[1 * 3 + 2] = 5.0F;
  costs[1 * 3 + 0] = 5.0F;
  costs[0] = 7.0F;
  const CostTable table(costs.data(), 7, 3);

  EXPECT_EQ(table.stock_pick(), (Choice{Algorithm::ring, Protocol::ll, 0}));
}

TEST(CostTable, TreatsARowTheReleaseLacksAsNotPriced) {
  std::array<float, 18> costs{};
  const CostTable table(costs.data(), 6, 3);

  EXPECT_FALSE(table.cost(Algorithm::pat, Protocol::simple));
}

TEST(Choice, NamesRoundTrip) {
  for (std::size_t i = 0; i < algorithm_count; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    EXPECT_EQ(parse_algorithm(name_of(algorithm)), algorithm);
  }
  EXPECT_EQ(parse_protocol("LL128"), Protocol::ll128);
  EXPECT_FALSE(parse_algorithm("ring2"));
  EXPECT_EQ(to_string(Choice{Algorithm::tree, Protocol::ll, 4}), "tree/ll/4");
}

TEST(NcclRelease, ReadsVersionsAndRefusesOtherText) {
  EXPECT_EQ(parse_nccl_release("2.30.7+cuda13.0"), (NcclRelease{2, 30, 7}));
  EXPECT_EQ(NcclRelease::from_code(22809), (NcclRelease{2, 28, 9}));
  for (const auto* text : {"", "2", "2.30", "2.30.x", "2.31.0rc1", "a.b.c", "2.-1.0"})
    EXPECT_FALSE(parse_nccl_release(text)) << text;
}

TEST(RuleSet, FindsARuleByBothItsEnds) {
  const RuleSet rules(std::vector<Rule>{{{8192, 16384}, {Algorithm::tree, Protocol::ll, 4}},
                                        {{65536, 65536}, {Algorithm::ring, Protocol::ll, 4}}});

  EXPECT_NE(rules.find(8192), nullptr);
  EXPECT_NE(rules.find(16384), nullptr);
  EXPECT_EQ(rules.find(16385), nullptr);
  EXPECT_EQ(rules.find(8191), nullptr);
  EXPECT_EQ(rules.find(65536)->choice.algorithm, Algorithm::ring);
}

TEST(RuleSet, RefusesOverlapAndInvertedRanges) {
  EXPECT_THROW(RuleSet(std::vector<Rule>{{{1, 10}}, {{10, 20}}}), Error);
  EXPECT_THROW(RuleSet(std::vector<Rule>{{{10, 1}}}), Error);
}

}  // namespace
}  // namespace lanewise
