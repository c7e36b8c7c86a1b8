// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "search/halving.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "simulated_machine.hpp"

namespace lanewise {
namespace {

constexpr Communicator any_ranks{8, 4, {2, 30, 7}, {}, GpuSharing::shared};

std::vector<Choice> sixteen_choices() {
  std::vector<Choice> choices;
  for (const auto algorithm : {Algorithm::tree, Algorithm::ring})
    for (const auto protocol : {Protocol::ll, Protocol::simple})
      for (int channels = 1; channels <= 4; ++channels)
        choices.push_back({algorithm, protocol, channels});
  return choices;
}

std::vector<CandidateSet> make_sizes(std::size_t count) {
  std::vector<CandidateSet> sizes;
  for (std::size_t i = 1; i <= count; ++i) sizes.push_back({i * 8192, sixteen_choices()});
  return sizes;
}

double same_for_all(std::size_t, const std::optional<Choice>&) { return 50; }

// 40 us for tree/ll/3, 10 % to 60 % more for the others, 50 us for stock.
double one_winner(std::size_t, const std::optional<Choice>& choice) {
  if (!choice) return 50;
  const double distance = std::abs(choice->channels - 3);
  const bool is_tree_ll = choice->algorithm == Algorithm::tree && choice->protocol == Protocol::ll;
  return 40 * (1 + 0.1 * distance + (is_tree_ll ? 0.0 : 0.4));
}

TEST(Halving, FindsTheWinnerOfEachSizeAndConfirmsIt) {
  Halving halving(make_sizes(24), 60);

  (void)run(halving, {.us = one_winner});

  const auto rules = build_rules(halving.results(), any_ranks);
  for (const auto& size : halving.results()) {
    EXPECT_NE(rules.find(size.bytes), nullptr) << size.bytes;
    EXPECT_EQ(size.choice, (Choice{Algorithm::tree, Protocol::ll, 3})) << size.bytes;
    EXPECT_NEAR(size.ratio.median, 1.25, 0.08);
    EXPECT_GE(size.ratio.samples, fewest_samples);
  }
  EXPECT_DOUBLE_EQ(halving.progress(), 1);
}

TEST(Halving, NoiseGivesNoRule) {
  int rules = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Halving halving(make_sizes(6), 20);
    (void)run(halving, {.us = same_for_all, .noise = 0.06, .seed = seed});
    rules += static_cast<int>(build_rules(halving.results(), any_ranks).rules().size());
  }

  EXPECT_LE(rules, 2);  // of 240 sizes
}

TEST(Halving, DriftBetweenRoundsGivesNoRule) {
  for (const double drift : {0.02, -0.02}) {
    Halving halving(make_sizes(4), 5);
    (void)run(halving, {.us = same_for_all, .noise = 0.01, .drift = drift});

    EXPECT_TRUE(build_rules(halving.results(), any_ranks).rules().empty()) << drift;
  }
}

TEST(Halving, DriftDoesNotHideAWinner) {
  Halving halving(make_sizes(4), 5);

  (void)run(halving, {.us = one_winner, .drift = 0.01});

  const auto rules = build_rules(halving.results(), any_ranks);
  for (const auto& size : halving.results()) EXPECT_NE(rules.find(size.bytes), nullptr);
  EXPECT_NEAR(halving.results()[0].ratio.median, 1.25, 0.05);
}

TEST(Halving, StopsWithinItsBudgetAndLeavesNoSizeBehind) {
  const double budget = 2;
  Halving halving(make_sizes(24), budget);
  const SimulatedMachine machine{.us = one_winner};

  const int rounds = run(halving, machine);

  EXPECT_LE(rounds * 3 * machine.reading_seconds, budget + 18 * machine.reading_seconds);
  for (const auto& size : halving.results()) EXPECT_GE(size.ratio.samples, 1) << size.bytes;
}

TEST(Halving, EndsEarlyWhereEverythingIsClear) {
  Halving halving(make_sizes(2), 600);
  const SimulatedMachine machine{.us = one_winner, .noise = 0.01};

  const int rounds = run(halving, machine);

  EXPECT_LT(rounds, 2 * 100);
}

TEST(Halving, IsAValueThatPlansTheSameAgain) {
  Halving first(make_sizes(3), 3);
  Halving second = first;

  EXPECT_EQ(run(first, {.us = one_winner}), run(second, {.us = one_winner}));
  EXPECT_EQ(first.results(), second.results());
}

TEST(Halving, EvidenceComesFromFreshRoundsAlone) {
  const std::vector<CandidateSet> sizes = {
      {8192, {{Algorithm::tree, Protocol::ll, 1}, {Algorithm::ring, Protocol::ll, 1}}}};
  Halving halving(sizes, 1000);
  // A winner by luck: twice as fast while it is screened, no better than stock after.
  while (const auto plan = halving.next()) {
    RoundResult result{{50, 50}, {}, 0.01};
    for (std::size_t i = 0; i < plan->choices.size(); ++i)
      result.us.push_back(plan->phase == Phase::screening && i == 0 ? 25 : 50);
    halving.record(*plan, result);
  }

  EXPECT_DOUBLE_EQ(halving.results()[0].ratio.median, 1);
  EXPECT_TRUE(build_rules(halving.results(), any_ranks).rules().empty());
}

TEST(Halving, ASizeWithoutCandidatesIsNeverPlanned) {
  Halving halving(std::vector<CandidateSet>{{8192, {}}}, 10);

  EXPECT_FALSE(halving.next());
  EXPECT_FALSE(halving.results()[0].choice);
}

TEST(Halving, RefusesResultsThatDoNotFitThePlan) {
  Halving halving(make_sizes(1), 10);
  const auto plan = *halving.next();

  EXPECT_THROW(halving.record(plan, {{50, 50}, {1, 2}, 0.1}), Error);
  EXPECT_THROW(halving.record(plan, {{}, std::vector<double>(16, 50), 0.1}), Error);
  EXPECT_THROW(halving.record(plan, {{50}, std::vector<double>(16, 0), 0.1}), Error);
  EXPECT_EQ(halving.next(), plan);
  EXPECT_THROW(Halving(make_sizes(1), 0), Error);
  EXPECT_THROW(Halving(std::vector<CandidateSet>{{2, {}}, {1, {}}}, 1), Error);
}

TEST(Halving, StockAgainstItselfShowsTheNoise) {
  Halving halving(make_sizes(2), 5);

  (void)run(halving, {.us = one_winner, .noise = 0.05});

  EXPECT_NEAR(median(halving.stock_ratios()), 1, 0.02);
  EXPECT_NEAR(relative_spread(halving.stock_ratios()), 0.05 * 2.56 * 1.41, 0.05);
}

}  // namespace
}  // namespace lanewise
