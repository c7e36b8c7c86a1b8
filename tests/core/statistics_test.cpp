// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/statistics.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <random>

#include "core/error.hpp"

namespace lanewise {
namespace {

std::vector<double> noisy(double middle, double deviation, std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> noise(middle, deviation);
  std::vector<double> samples(count);
  for (double& sample : samples) sample = noise(engine);
  return samples;
}

TEST(Statistics, MedianOfAnEvenCountIsBetweenTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 4, 2}), 3);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{7}), 7);
}

TEST(Statistics, PercentileIsLinearBetweenRanks) {
  const std::vector<double> samples = {10, 20, 30, 40, 50};

  EXPECT_DOUBLE_EQ(percentile(samples, 0), 10);
  EXPECT_DOUBLE_EQ(percentile(samples, 100), 50);
  EXPECT_DOUBLE_EQ(percentile(samples, 90), 46);
}

TEST(Statistics, RefusesNoSamplesAndThoseThatAreNotFinite) {
  const std::vector<double> nothing;
  const std::vector<double> broken = {1, std::numeric_limits<double>::quiet_NaN()};

  EXPECT_THROW((void)median(nothing), Error);
  EXPECT_THROW((void)estimate_median(nothing), Error);
  EXPECT_THROW((void)estimate_median(broken), Error);
  EXPECT_THROW((void)geometric_mean(std::vector<double>{1, 0}), Error);
  EXPECT_THROW((void)percentile(std::vector<double>{1}, 101), Error);
  EXPECT_THROW((void)paired_ratios(broken, std::vector<double>{1}), Error);
}

TEST(Statistics, GeometricMeanOfAGainAndItsInverseIsOne) {
  EXPECT_NEAR(geometric_mean(std::vector<double>{2, 0.5, 4, 0.25}), 1, 1e-12);
}

TEST(Statistics, IntervalHoldsTheMedianAndNarrowsWithSamples) {
  const auto few = estimate_median(noisy(1.0, 0.05, 10, 1));
  const auto many = estimate_median(noisy(1.0, 0.05, 400, 1));

  EXPECT_LE(few.low, few.median);
  EXPECT_GE(few.high, few.median);
  EXPECT_LT(many.high - many.low, (few.high - few.low) / 2);
}

TEST(Statistics, IntervalCoversTheTruthAboutNineteenTimesInTwenty) {
  int covered = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const auto estimate = estimate_median(noisy(1.0, 0.05, 25, seed));
    if (estimate.low <= 1.0 && estimate.high >= 1.0) ++covered;
  }

  EXPECT_GE(covered, 400 * 92 / 100);
  EXPECT_LE(covered, 400 * 99 / 100);
}

TEST(Statistics, SameSamplesGiveTheSameBits) {
  const auto samples = noisy(1.1, 0.1, 31, 5);

  EXPECT_EQ(estimate_median(samples), estimate_median(samples));
}

TEST(Statistics, DriftBetweenRoundsCancelsInPairedRatios) {
  std::vector<double> stock;
  std::vector<double> arm;
  for (int round = 0; round < 12; ++round) {
    const double drift = 1.0 + 0.1 * round;
    stock.push_back(50 * drift);
    arm.push_back(40 * drift);
  }

  const auto estimate = estimate_median(paired_ratios(stock, arm));

  EXPECT_NEAR(estimate.low, 1.25, 1e-9);
  EXPECT_NEAR(estimate.high, 1.25, 1e-9);
}

TEST(Judge, DecidesOnlyWhenTheWholeIntervalIsOnOneSide) {
  EXPECT_EQ(judge({1.10, 1.04, 1.20, 20}, gain_limit), Verdict::better);
  EXPECT_EQ(judge({1.10, 1.02, 1.20, 20}, gain_limit), Verdict::undecided);
  EXPECT_EQ(judge({1.00, 0.98, 1.02, 20}, gain_limit), Verdict::worse);
  EXPECT_EQ(judge({0.95, 0.93, 0.97, 20}, never_worse_limit), Verdict::worse);
  EXPECT_EQ(judge({0.99, 0.97, 1.01, 20}, never_worse_limit), Verdict::undecided);
}

TEST(Judge, IsUndecidedWithTooFewSamplesHoweverClear) {
  EXPECT_EQ(judge({2.0, 1.9, 2.1, fewest_samples - 1}, gain_limit), Verdict::undecided);
  EXPECT_EQ(judge({2.0, 1.9, 2.1, fewest_samples}, gain_limit), Verdict::better);
}

TEST(Judge, PureNoiseHardlyEverPassesTheGainLimit) {
  int passed = 0;
  for (unsigned seed = 0; seed < 500; ++seed)
    if (judge(estimate_median(noisy(1.0, 0.05, 16, seed)), gain_limit) == Verdict::better) ++passed;

  EXPECT_LE(passed, 4);
}

// Processor time, five times what it takes optimized: a debug build on a busy machine passes too.
TEST(Statistics, IntervalsOfAWholeTuneCostSecondsAtMost) {
  constexpr int arms = 24 * 20;
  const auto samples = noisy(1.0, 0.05, 40, 3);
  const auto start = std::clock();

  for (int arm = 0; arm < arms; ++arm) ASSERT_GT(estimate_median(samples).high, 0);

  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5.0);
}

TEST(Statistics, CommunicatorsThatDifferAmongThemselvesDecideNothing) {
  const std::vector<double> scattered = {0.95, 0.97, 1.02};
  const std::vector<double> slower = {0.90, 0.91, 0.92};
  const std::vector<double> faster = {1.50, 1.52, 1.51};
  const std::vector<double> one = {0.5};

  EXPECT_EQ(judge_across(scattered, never_worse_limit), Verdict::undecided);
  EXPECT_EQ(judge_across(slower, never_worse_limit), Verdict::worse);
  EXPECT_EQ(judge_across(faster, gain_limit), Verdict::better);
  EXPECT_EQ(judge_across(one, never_worse_limit), Verdict::undecided);
}

}  // namespace
}  // namespace lanewise
