// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/cost_filter.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr NcclRelease filtered_release = {2, 30, 7};

bool allows(const CostFilter& filter, Algorithm algorithm) {
  return filter.algorithms[static_cast<std::size_t>(algorithm)];
}

bool allows(const CostFilter& filter, Protocol protocol) {
  return filter.protocols[static_cast<std::size_t>(protocol)];
}

TEST(CostFilter, AllowsEverythingWhereNothingIsSet) {
  const auto filter = parse_cost_filter("", "", filtered_release);

  EXPECT_TRUE(allows(filter, Algorithm::tree));
  EXPECT_TRUE(allows(filter, Protocol::simple));
  EXPECT_EQ(filter.ll128, Ll128Pricing::forbidden);
}

TEST(CostFilter, AllowsWhatIsListedInAnyCase) {
  const auto filter = parse_cost_filter("RING", "ll,Simple", filtered_release);

  EXPECT_TRUE(allows(filter, Algorithm::ring));
  EXPECT_FALSE(allows(filter, Algorithm::tree));
  EXPECT_TRUE(allows(filter, Protocol::ll));
  EXPECT_EQ(filter.ll128, Ll128Pricing::forbidden);
}

TEST(CostFilter, TakesAHatForAllTheOthersAndWithThemLl128) {
  const auto filter = parse_cost_filter("", "^LL", filtered_release);

  EXPECT_FALSE(allows(filter, Protocol::ll));
  EXPECT_TRUE(allows(filter, Protocol::ll128));
  EXPECT_EQ(filter.ll128, Ll128Pricing::priced);
}

TEST(CostFilter, TakesThePartForAnAllReduce) {
  const auto named = parse_cost_filter("broadcast:tree;AllReduce:ring", "", filtered_release);
  const auto others = parse_cost_filter("broadcast:ring", "", filtered_release);

  EXPECT_FALSE(allows(named, Algorithm::tree));
  EXPECT_TRUE(allows(others, Algorithm::tree));
}

TEST(CostFilter, RefusesAWordWhereNcclDoes) {
  EXPECT_THROW((void)parse_cost_filter("rings", "", filtered_release), Error);
  EXPECT_FALSE(allows(parse_cost_filter("rings,ring", "", {2, 21, 5}), Algorithm::tree));
}

TEST(CostFilter, TakesTheCostsOfTheRestAway) {
  CostArray costs;
  costs.fill(1.0F);

  const auto left = filter_costs(parse_cost_filter("ring", "ll", filtered_release), costs);

  EXPECT_EQ(left[static_cast<std::size_t>(Algorithm::ring) * protocol_count], 1.0F);
  EXPECT_EQ(left[static_cast<std::size_t>(Algorithm::tree) * protocol_count], -1.0F);
}

}  // namespace
}  // namespace lanewise
