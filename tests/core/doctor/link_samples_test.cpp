// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/link_samples.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lanewise {
namespace {

LinkCourse course(const std::vector<int>& generations) { return judge_samples(generations, 5); }

TEST(LinkSamples, TellAStuckLinkFromOneThatWakesAndOneThatDoesNotHold) {
  EXPECT_EQ(course({5, 5, 5}), LinkCourse::full);
  EXPECT_EQ(course({1, 1, 1}), LinkCourse::stuck);
  EXPECT_EQ(course({1, 3, 1}), LinkCourse::stuck);
  EXPECT_EQ(course({1, 5, 5}), LinkCourse::rising);
  EXPECT_EQ(course({5, 1, 5}), LinkCourse::flapping);
  EXPECT_EQ(course({5, 5, 1}), LinkCourse::flapping);
}

TEST(LinkSamples, SayNothingWhereNothingIsKnown) {
  EXPECT_EQ(course({}), LinkCourse::full);
  EXPECT_EQ(judge_samples(std::vector<int>{1, 5, 1}, 0), LinkCourse::full);
}

}  // namespace
}  // namespace lanewise
