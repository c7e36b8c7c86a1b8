// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "search/rule_builder.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr Choice tree{Algorithm::tree, Protocol::ll, 4};
constexpr Choice ring{Algorithm::ring, Protocol::ll, 2};

MeasuredSize measure(std::size_t bytes, const Choice& choice, double low, double middle) {
  return {bytes, choice, {middle, low, middle + 0.1, 20}, 50, 50 / middle};
}

TEST(RuleBuilder, JoinsNeighboursOfOneChoice) {
  const auto set =
      build_rules(std::vector{measure(8192, tree, 1.5, 1.6), measure(16384, tree, 1.2, 1.3),
                              measure(32768, tree, 1.4, 1.5)});

  ASSERT_EQ(set.rules().size(), 1U);
  EXPECT_EQ(set.rules()[0].bytes, (ByteRange{8192, 32768}));
}

TEST(RuleBuilder, EvidenceOfARangeIsItsWeakestSizes) {
  const auto set =
      build_rules(std::vector{measure(8192, tree, 1.5, 1.6), measure(16384, tree, 1.2, 1.3)});

  EXPECT_EQ(set.rules()[0], (Rule{{8192, 16384}, tree, 50, 50 / 1.3, 1.3, 1.2, 1.3 + 0.1, 20}));
}

TEST(RuleBuilder, NoRuleWhereTheLowerEndIsNotAboveTheLimit) {
  const auto set = build_rules(
      std::vector{measure(8192, tree, gain_limit, 1.5), measure(16384, tree, 0.9, 1.9)});

  EXPECT_TRUE(set.rules().empty());
}

TEST(RuleBuilder, NoRuleFromTooFewSamples) {
  auto size = measure(8192, tree, 1.5, 1.6);
  size.ratio.samples = fewest_samples - 1;

  EXPECT_TRUE(build_rules(std::vector{size}).rules().empty());
}

TEST(RuleBuilder, AMeasuredSizeThatDisagreesSplitsARange) {
  const auto by_choice =
      build_rules(std::vector{measure(8192, tree, 1.5, 1.6), measure(12000, ring, 1.5, 1.6),
                              measure(16384, tree, 1.5, 1.6)});
  const auto by_gain =
      build_rules(std::vector{measure(8192, tree, 1.5, 1.6), measure(12000, tree, 1.0, 1.1),
                              measure(16384, tree, 1.5, 1.6)});

  EXPECT_EQ(by_choice.rules().size(), 3U);
  ASSERT_EQ(by_gain.rules().size(), 2U);
  EXPECT_EQ(by_gain.find(12000), nullptr);
  EXPECT_EQ(by_gain.find(8193), nullptr);
}

TEST(RuleBuilder, ASizeWithoutAChoiceSplitsARange) {
  const auto set = build_rules(std::vector{measure(8192, tree, 1.5, 1.6), MeasuredSize{12000},
                                           measure(16384, tree, 1.5, 1.6)});

  EXPECT_EQ(set.find(10000), nullptr);
}

TEST(RuleBuilder, OtherChannelsAreAnotherChoice) {
  Choice wider = tree;
  wider.channels = 8;

  const auto set =
      build_rules(std::vector{measure(8192, tree, 1.5, 1.6), measure(16384, wider, 1.5, 1.6)});

  EXPECT_EQ(set.rules().size(), 2U);
}

TEST(RuleBuilder, NeverReachesPastOrAcrossWideGapsOfMeasuredSizes) {
  const auto set =
      build_rules(std::vector{measure(8192, tree, 1.5, 1.6), measure(16385, tree, 1.5, 1.6)});

  EXPECT_EQ(set.find(8191), nullptr);
  EXPECT_EQ(set.find(8193), nullptr);
  EXPECT_EQ(set.find(16386), nullptr);
  EXPECT_NE(set.find(16385), nullptr);
}

TEST(RuleBuilder, KeepsStockWhereNothingWasMeasuredToGain) {
  auto unsure = measure(131072, ring, 0.9, 1.05);
  unsure.ratio.high = 1.30;
  const MeasuredSize unmeasured{.bytes = 262144, .choice = ring};
  auto level = measure(65536, ring, 0.99, 1.0);
  level.ratio.high = 1.02;
  const std::vector<MeasuredSize> sizes = {measure(14336, ring, 1.4, 1.5), level, unsure,
                                           unmeasured};

  const auto set = build_rules(sizes);

  EXPECT_TRUE(set.keeps_stock(65536));
  EXPECT_FALSE(set.keeps_stock(14336));
  EXPECT_FALSE(set.keeps_stock(65520));
  EXPECT_FALSE(set.keeps_stock(131072));
  EXPECT_FALSE(set.keeps_stock(262144));
}

TEST(RuleBuilder, RefusesSizesOutOfOrder) {
  EXPECT_THROW((void)build_rules(std::vector{measure(2, tree, 2, 2), measure(2, tree, 2, 2)}),
               Error);
}

}  // namespace
}  // namespace lanewise
