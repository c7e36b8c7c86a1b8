// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/tuner_rows.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr Choice tree{Algorithm::tree, Protocol::ll, 4};
constexpr Choice ring{Algorithm::ring, Protocol::ll, 2};

TEST(TunerRows, FirstRowHasTheBytesWhereRowsOverlap) {
  const std::vector<TunerRow> rows = {{.bytes = {100, 200}, .choice = tree},
                                      {.bytes = {0, 1000}, .choice = ring},
                                      {.bytes = {150, 300}, .choice = tree}};

  const auto rules = rules_of(rows, 8).rules;

  ASSERT_EQ(rules.rules().size(), 3U);
  EXPECT_EQ(rules.rules()[0].bytes, (ByteRange{1, 99}));
  EXPECT_EQ(rules.rules()[1].bytes, (ByteRange{100, 200}));
  EXPECT_EQ(rules.rules()[2].bytes, (ByteRange{201, 1000}));
  EXPECT_EQ(rules.find(100)->choice, tree);
  EXPECT_EQ(rules.find(99)->choice, ring);
}

TEST(TunerRows, ARuleOfRowsHasNoEvidence) {
  const std::vector<TunerRow> rows = {{.bytes = {1, 2}, .choice = tree}};

  EXPECT_EQ(rules_of(rows, 2).rules.rules()[0], (Rule{.bytes = {1, 2}, .choice = tree}));
}

TEST(TunerRows, RowsThatMeetButDoNotOverlapStayApartFromAGap) {
  const std::vector<TunerRow> rows = {{.bytes = {1, 10}, .choice = tree},
                                      {.bytes = {20, 30}, .choice = tree}};

  const auto rules = rules_of(rows, 8).rules;

  EXPECT_EQ(rules.find(15), nullptr);
  EXPECT_EQ(rules.rules().size(), 2U);
}

TEST(TunerRows, OtherCallsAreIgnoredAndNamed) {
  const std::vector<TunerRow> rows = {
      {.collective = Collective::broadcast, .bytes = {1, 2}, .line = 1},
      {.bytes = {1, 2}, .nodes = 2, .line = 2},
      {.bytes = {1, 2}, .ranks = 4, .line = 3},
      {.bytes = {1, 2}, .pipe_ops = 1, .line = 4},
      {.bytes = {1, 2}, .is_registered = true, .line = 5},
      {.bytes = {1, 2}, .nodes = 1, .ranks = 8, .line = 6}};

  const auto found = rules_of(rows, 8);

  EXPECT_EQ(found.ignored_lines, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(found.rules.rules().size(), 1U);
}

TEST(TunerRows, TakesARangeWithoutEnd) {
  const std::vector<TunerRow> rows = {
      {.bytes = {0, std::numeric_limits<std::size_t>::max()}, .choice = tree}};

  EXPECT_NE(rules_of(rows, 8).rules.find(std::size_t{1} << 40U), nullptr);
}

TEST(TunerRows, AProfilesRulesSurviveTheWayThereAndBack) {
  const RuleSet rules(
      {{.bytes = {14336, 28672}, .choice = tree}, {.bytes = {57344, 57344}, .choice = ring}});
  const TunedEnvironment environment{.groups = {{.ranks = 8, .rules = rules}, {.ranks = 4}}};

  EXPECT_EQ(rules_of(rows_of(environment), 8).rules, rules);
  EXPECT_TRUE(rules_of(rows_of(environment), 4).rules.rules().empty());
}

TEST(TunerRows, RefusesTwoGroupsThatRowsCannotTellApart) {
  const RuleSet rules({{.bytes = {1, 2}, .choice = tree}});
  const TunedEnvironment environment{.groups = {{.ranks = 2, .gpus = {0, 1}, .rules = rules},
                                                {.ranks = 2, .gpus = {2, 3}, .rules = rules}}};

  EXPECT_THROW((void)rows_of(environment), Error);
}

}  // namespace
}  // namespace lanewise
