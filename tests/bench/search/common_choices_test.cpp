// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "search/common_choices.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr Choice three{Algorithm::tree, Protocol::ll, 3};
constexpr Choice four{Algorithm::tree, Protocol::ll, 4};
constexpr Choice ring{Algorithm::ring, Protocol::simple, 4};

TEST(CommonChoices, TakesTheNeighboursWhereItIsAsGood) {
  const std::vector<SizeChoices> sizes = {{1000, {{three, 1.500}, {four, 1.495}}},
                                          {2000, {{three, 1.400}, {four, 1.500}}},
                                          {4000, {{three, 1.505}, {four, 1.500}}}};

  EXPECT_EQ(common_choices(sizes), (std::vector<Choice>{four, four, four}));
}

TEST(CommonChoices, NeverGivesUpMoreThanATie) {
  const std::vector<SizeChoices> sizes = {{1000, {{three, 1.50}, {four, 1.48}}},
                                          {2000, {{three, 1.48}, {four, 1.50}}}};

  EXPECT_EQ(common_choices(sizes), (std::vector<Choice>{three, four}));
}

TEST(CommonChoices, ARunTakesTheBestOfWhatItHasInCommon) {
  const std::vector<SizeChoices> sizes = {{1000, {{three, 1.500}, {four, 1.501}, {ring, 1.499}}},
                                          {2000, {{three, 1.500}, {four, 1.490}, {ring, 1.495}}}};

  EXPECT_EQ(common_choices(sizes), (std::vector<Choice>{three, three}));
}

TEST(CommonChoices, ChangesAsSeldomAsItCan) {
  const std::vector<SizeChoices> sizes = {{1, {{three, 1.5}, {four, 1.5}}},
                                          {2, {{four, 1.5}, {ring, 1.5}}},
                                          {3, {{ring, 1.5}}},
                                          {4, {{ring, 1.5}, {three, 1.5}}}};

  EXPECT_EQ(common_choices(sizes), (std::vector<Choice>{four, four, ring, ring}));
}

TEST(CommonChoices, NeedsAContenderAtEachSize) {
  EXPECT_TRUE(common_choices({}).empty());
  EXPECT_THROW((void)common_choices(std::vector<SizeChoices>{{1, {}}}), Error);
}

}  // namespace
}  // namespace lanewise
