// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "agreement_search.hpp"

#include <gtest/gtest.h>

namespace lanewise::model {
namespace {

TEST(AgreementSearch, WithoutFaultsEveryoneAppliesTwiceUnderOneName) {
  for (std::size_t ranks = 2; ranks <= 3; ++ranks) {
    const auto found = search({.ranks = ranks, .generations = 2, .limit = Limit::never_runs_out});

    EXPECT_EQ(found.violation, "");
    EXPECT_GT(found.applied, 0U);
    EXPECT_EQ(found.abstained, 0U);
  }
}

TEST(AgreementSearch, OneFaultAnywhereNeverSplitsTheRanks) {
  for (std::size_t ranks = 2; ranks <= most_ranks; ++ranks) {
    const auto found = search({.ranks = ranks, .faults = 1});

    EXPECT_EQ(found.violation, "") << ranks << " ranks";
    EXPECT_GT(found.applied, 0U);
    EXPECT_GT(found.abstained, 0U);
  }
}

TEST(AgreementSearch, TwoFaultsNeverSplitThreeRanksNorTheirSuccessors) {
  const auto found = search({.ranks = 3, .generations = 2, .faults = 2});

  EXPECT_EQ(found.violation, "");
  EXPECT_GT(found.applied, 0U);
}

TEST(AgreementSearch, OneRankWithOtherSettingsMakesAllAbstain) {
  for (std::size_t ranks = 2; ranks <= most_ranks; ++ranks) {
    const auto found = search({.ranks = ranks, .digests = {2, 1, 1, 1}});

    EXPECT_EQ(found.violation, "");
    EXPECT_EQ(found.applied, 0U);
    EXPECT_GT(found.abstained, 0U);
  }
}

TEST(AgreementSearch, OneRankWithAnotherPlanMakesAllAbstain) {
  const auto found = search({.ranks = 3, .plans = {1, 1, 2, 1}});

  EXPECT_EQ(found.violation, "");
  EXPECT_EQ(found.applied, 0U);
  EXPECT_GT(found.abstained, 0U);
}

// Whatever killed processes left under the name, their successors, all at once, agree at once.
TEST(AgreementSearch, TakesOverWhatDeadProcessesLeft) {
  for (const auto verdict :
       {AgreementVerdict::pending, AgreementVerdict::timed_out, AgreementVerdict::apply}) {
    for (int arrived = 0; arrived <= 3; ++arrived) {
      Segment left;
      left.word = {verdict, arrived, 0};
      left.slots[0] = {true, true, 1, 0};

      const auto found = search({.ranks = 3, .limit = Limit::never_runs_out, .leftover = left});

      EXPECT_EQ(found.violation, "");
      EXPECT_GT(found.applied, 0U);
      EXPECT_EQ(found.abstained, 0U);
    }
  }
}

TEST(AgreementSearch, FindsTheSplitOfAWordThatIsStoredWithoutComparing) {
  const auto found = search({.ranks = 2, .swap = Swap::overwrites});

  EXPECT_EQ(found.violation, "ranks left with different verdicts");
}

TEST(AgreementSearch, FindsTheEndlessWaitOfRanksWithoutATimeLimit) {
  const auto found = search({.ranks = 2, .faults = 1, .limit = Limit::is_ignored});

  EXPECT_EQ(found.violation, "a rank waits for ever");
}

}  // namespace
}  // namespace lanewise::model
