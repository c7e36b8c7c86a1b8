// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "links/one_shot_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace lanewise::bench {
namespace {

struct Whole {
  using Element = int;
  static Element round(float value) { return static_cast<int>(std::lround(value)); }
  static float widen(Element value) { return static_cast<float>(value); }
};

TEST(OneShotReference, AddsWhatEachRankPutsIn) {
  const auto sums = sum_inputs<Whole>(7, 3, 100);

  for (std::size_t i = 0; i < sums.size(); ++i) {
    int sum = 0;
    for (int rank = 0; rank < 3; ++rank) sum += make_input<Whole>(7, rank, 100)[i];
    EXPECT_EQ(sums[i], sum);
  }
}

TEST(OneShotReference, GivesEachRankAndCallDataOfItsOwn) {
  const auto count_equal = [](const auto& a, const auto& b) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1U : 0U;
    return equal;
  };
  const auto values = [](std::uint64_t seed, int rank) {
    std::vector<float> result;
    for (std::size_t i = 0; i < 1000; ++i) result.push_back(input_value(seed, rank, i));
    return result;
  };

  EXPECT_LT(count_equal(values(1, 0), values(1, 1)), 20U);
  EXPECT_LT(count_equal(values(1, 0), values(2, 0)), 20U);
}

TEST(OneShotReference, HasBothSignsAndDifferentMagnitudes) {
  int negative = 0;
  int small = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const float value = input_value(3, 2, i);
    negative += value < 0 ? 1 : 0;
    small += std::fabs(value) < 0.016F ? 1 : 0;
    EXPECT_LE(std::fabs(value), 8);
  }

  EXPECT_GT(negative, 300);
  EXPECT_LT(negative, 700);
  EXPECT_GT(small, 300);
  EXPECT_LT(small, 700);
}

}  // namespace
}  // namespace lanewise::bench
