// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "search/rule_builder.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr Choice tree{Algorithm::tree, Protocol::ll, 4};
constexpr Choice ring_rule{Algorithm::ring, Protocol::ll, 2};

MeasuredSize measure(std::size_t bytes, const Choice& choice, double low, double middle) {
  return {bytes, choice, {middle, low, middle + 0.1, 20}, 50, 50 / middle};
}

// Of eight ranks over host memory, as the recorded times of allreduce_h200x2.csv are.
constexpr Communicator eight_measured_ranks{8, 4, {2, 30, 7}, {}, GpuSharing::shared};

RuleSet rules_of(const std::vector<MeasuredSize>& sizes) {
  return build_rules(sizes, eight_measured_ranks);
}

// Between these neither Tree/LL/4 nor NCCL's own choice has other threads, channels or waves.
TEST(RuleBuilder, JoinsNeighboursOfOneChoice) {
  const auto set = rules_of({measure(12800, tree, 1.5, 1.6), measure(14336, tree, 1.2, 1.3),
                             measure(15872, tree, 1.4, 1.5)});

  ASSERT_EQ(set.rules().size(), 1U);
  EXPECT_EQ(set.rules()[0].bytes, (ByteRange{12800, 15872}));
}

// allreduce_h200x2.csv, Ring/LL/4 over stock: 1.32 at 28 KiB and 1.25 at 56, but 0.935 at 32.
TEST(RuleBuilder, ReachesNoSizeAtWhichWavesAreOthers) {
  constexpr Choice ring_of_four{Algorithm::ring, Protocol::ll, 4};

  const auto set =
      rules_of({measure(14336, ring_of_four, 1.5, 1.59), measure(28672, ring_of_four, 1.28, 1.32),
                measure(57344, ring_of_four, 1.2, 1.25)});

  EXPECT_EQ(set.rules().size(), 3U);
  EXPECT_NE(set.find(28672), nullptr);
  EXPECT_EQ(set.find(32768), nullptr);
}

TEST(RuleBuilder, WhatTheModelDoesNotKnowHoldsAtTheMeasuredSizesAlone) {
  constexpr Choice unknown{Algorithm::ring, Protocol::ll128, 4};

  const auto set = rules_of({measure(12800, unknown, 1.5, 1.6), measure(14336, unknown, 1.5, 1.6)});

  EXPECT_EQ(set.rules().size(), 2U);
  EXPECT_EQ(set.find(13000), nullptr);
}

TEST(RuleBuilder, EvidenceOfARangeIsItsWeakestSizes) {
  const auto set = rules_of({measure(12800, tree, 1.5, 1.6), measure(14336, tree, 1.2, 1.3)});

  EXPECT_EQ(set.rules()[0], (Rule{{12800, 14336}, tree, 50, 50 / 1.3, 1.3, 1.2, 1.3 + 0.1, 20}));
}

TEST(RuleBuilder, NoRuleWhereTheLowerEndIsNotAboveTheLimit) {
  const auto set = rules_of({measure(8192, tree, gain_limit, 1.5), measure(16384, tree, 0.9, 1.9)});

  EXPECT_TRUE(set.rules().empty());
}

TEST(RuleBuilder, NoRuleFromTooFewSamples) {
  auto size = measure(8192, tree, 1.5, 1.6);
  size.ratio.samples = fewest_samples - 1;

  EXPECT_TRUE(rules_of({size}).rules().empty());
}

TEST(RuleBuilder, AMeasuredSizeThatDisagreesSplitsARange) {
  const auto by_choice =
      rules_of({measure(12800, tree, 1.5, 1.6), measure(14336, ring_rule, 1.5, 1.6),
                measure(15872, tree, 1.5, 1.6)});
  const auto by_gain = rules_of({measure(12800, tree, 1.5, 1.6), measure(14336, tree, 1.0, 1.1),
                                 measure(15872, tree, 1.5, 1.6)});

  EXPECT_EQ(by_choice.rules().size(), 3U);
  ASSERT_EQ(by_gain.rules().size(), 2U);
  EXPECT_EQ(by_gain.find(14336), nullptr);
  EXPECT_EQ(by_gain.find(12801), nullptr);
}

TEST(RuleBuilder, ASizeWithoutAChoiceSplitsARange) {
  const auto set = rules_of(
      {measure(12800, tree, 1.5, 1.6), MeasuredSize{14336}, measure(15872, tree, 1.5, 1.6)});

  EXPECT_EQ(set.find(13000), nullptr);
}

TEST(RuleBuilder, OtherChannelsAreAnotherChoice) {
  Choice wider = tree;
  wider.channels = 3;

  const auto set = rules_of({measure(12800, tree, 1.5, 1.6), measure(14336, wider, 1.5, 1.6)});

  EXPECT_EQ(set.rules().size(), 2U);
}

TEST(RuleBuilder, NeverReachesPastMeasuredSizes) {
  const auto set = rules_of({measure(12800, tree, 1.5, 1.6), measure(14336, tree, 1.5, 1.6)});

  EXPECT_EQ(set.find(12799), nullptr);
  EXPECT_NE(set.find(12801), nullptr);
  EXPECT_NE(set.find(14336), nullptr);
  EXPECT_EQ(set.find(14337), nullptr);
}

TEST(RuleBuilder, KeepsStockWhereNothingWasMeasuredToGain) {
  auto unsure = measure(131072, ring_rule, 0.9, 1.05);
  unsure.ratio.high = 1.30;
  const MeasuredSize unmeasured{.bytes = 262144, .choice = ring_rule};
  auto level = measure(65536, ring_rule, 0.99, 1.0);
  level.ratio.high = 1.02;
  const std::vector<MeasuredSize> sizes = {measure(14336, ring_rule, 1.4, 1.5), level, unsure,
                                           unmeasured};

  const auto set = build_rules(sizes, eight_measured_ranks);

  EXPECT_TRUE(set.keeps_stock(65536));
  EXPECT_FALSE(set.keeps_stock(14336));
  EXPECT_FALSE(set.keeps_stock(65520));
  EXPECT_FALSE(set.keeps_stock(131072));
  EXPECT_FALSE(set.keeps_stock(262144));
}

TEST(RuleBuilder, RefusesSizesOutOfOrder) {
  EXPECT_THROW((void)rules_of({measure(2, tree, 2, 2), measure(2, tree, 2, 2)}), Error);
}

}  // namespace
}  // namespace lanewise
