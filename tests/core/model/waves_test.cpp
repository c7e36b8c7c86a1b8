// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/waves.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

constexpr Choice ring_ll{Algorithm::ring, Protocol::ll, 0};

Communicator eight_ranks(int channels, NcclRelease release = {2, 30, 7}) {
  return {8, channels, release, {}};
}

Choice ring_ll_on(int channels) { return {Algorithm::ring, Protocol::ll, channels}; }

TEST(Waves, ModelShapedSizeTakesTwoWavesWherePowerOfTwoTakesOne) {
  EXPECT_EQ(launch_of(ring_ll, 14336, eight_ranks(4)), (Launch{128, 1, 1792, 2}));
  EXPECT_EQ(launch_of(ring_ll, 32768, eight_ranks(4)), (Launch{512, 1, 4096, 1}));
}

TEST(Waves, SecondChannelBringsFourteenKibibytesToOneWave) {
  const Launch launch = launch_of(ring_ll_on(2), 14336, eight_ranks(4));

  EXPECT_EQ(launch, (Launch{128, 2, 1024, 1}));
}

TEST(Waves, DefaultChannelsFallWithTheSize) {
  const Communicator communicator = eight_ranks(4);

  EXPECT_EQ(default_channels(Algorithm::ring, Protocol::ll, 131072, communicator), 4);
  EXPECT_EQ(default_channels(Algorithm::ring, Protocol::ll, 114688, communicator), 3);
  EXPECT_EQ(default_channels(Algorithm::ring, Protocol::ll, 14336, communicator), 1);
  EXPECT_EQ(default_channels(Algorithm::tree, Protocol::ll, 14336, communicator), 3);
}

TEST(Waves, MoreChannelsThanThereAreIsClamped) {
  EXPECT_EQ(launch_of(ring_ll_on(64), 1 << 20, eight_ranks(4)).channels, 4);
}

TEST(Waves, SmallMessagesGetFewerChannelsThanAskedFor) {
  EXPECT_EQ(launch_of(ring_ll_on(32), 16384, eight_ranks(32)).channels, 4);
  EXPECT_EQ(launch_of(ring_ll_on(32), 16384, eight_ranks(32, {2, 28, 9})).channels, 8);
  EXPECT_EQ(launch_of(ring_ll_on(32), 16384, eight_ranks(32, {2, 25, 1})).channels, 2);
  EXPECT_EQ(launch_of(ring_ll_on(32), 16384, eight_ranks(32, {2, 22, 3})).channels, 32);
}

TEST(Waves, TunerMovesThreadsOnlyBefore222) {
  EXPECT_EQ(launch_of(ring_ll_on(4), 65536, eight_ranks(4)).threads, 512);
  EXPECT_EQ(launch_of(ring_ll_on(4), 65536, eight_ranks(4, {2, 21, 5})).threads, 256);
}

TEST(Waves, TreeTakesEveryThreadFrom222On) {
  const Choice tree{Algorithm::tree, Protocol::ll, 1};

  EXPECT_EQ(launch_of(tree, 4096, eight_ranks(4)).threads, 640);
  EXPECT_EQ(launch_of(tree, 2048, eight_ranks(4, {2, 21, 5})).threads, 256);
}

TEST(Waves, UserLimitsMoveThreadsAndThresholds) {
  Communicator communicator = eight_ranks(4);
  communicator.limits.threads = 256;
  EXPECT_EQ(launch_of(ring_ll, 1 << 20, communicator).threads, 256);

  communicator.limits.threads = 100;
  EXPECT_EQ(launch_of(ring_ll, 1 << 20, communicator).threads, 512);

  communicator.limits.threads = 32;
  EXPECT_EQ(launch_of(ring_ll, 1 << 20, communicator).threads, 96);

  communicator.limits = {};
  communicator.limits.thread_thresholds[1][0] = 0;
  EXPECT_EQ(launch_of(ring_ll, 14336, communicator), (Launch{512, 4, 512, 1}));
}

TEST(NcclLimits, CtasLimitAsChannelsDo) {
  NcclLimits limits;
  limits.max_ctas = 1;
  EXPECT_EQ(channels_of_communicator(2, limits, {2, 30, 7}), 1);

  limits.min_ctas = 8;
  EXPECT_EQ(channels_of_communicator(2, limits, {2, 30, 7}), 8);
}

TEST(NcclLimits, MinimumBeatsMaximum) {
  NcclLimits limits;
  limits.max_channels = 2;
  EXPECT_EQ(channels_of_communicator(2, limits, {2, 30, 7}), 2);

  limits.min_channels = 16;
  EXPECT_EQ(channels_of_communicator(2, limits, {2, 30, 7}), 16);

  limits.min_ctas = 100;
  EXPECT_EQ(channels_of_communicator(2, limits, {2, 24, 3}), 32);
  EXPECT_EQ(channels_of_communicator(2, limits, {2, 25, 1}), 64);
}

}  // namespace
}  // namespace lanewise
