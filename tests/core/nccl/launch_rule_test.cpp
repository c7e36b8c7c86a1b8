// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/launch_rule.hpp"

#include <gtest/gtest.h>

#include "core/model/waves.hpp"

namespace lanewise {
namespace {

constexpr NcclRelease raising{2, 30, 7};
constexpr NcclRelease lowering{2, 31, 2};
constexpr Choice tree_ll_on_four{Algorithm::tree, Protocol::ll, 4};

Choice asked_ring_ll(int channels) { return {Algorithm::ring, Protocol::ll, channels}; }

int channels_of(const Choice& choice, std::size_t bytes, NcclRelease release,
                const NcclLimits& limits = {}) {
  return launch_of(choice, bytes, {8, 16, release, limits}).channels;
}

NcclLimits with_ring_ll_threshold(long long bytes) {
  NcclLimits limits;
  limits.thread_thresholds[1][0] = bytes;
  return limits;
}

TEST(LaunchRule, KnowsSinceWhenATunerOnlyLowersChannels) {
  EXPECT_EQ(channel_request({2, 21, 5}), ChannelRequest::replaces);
  EXPECT_EQ(channel_request({2, 30, 7}), ChannelRequest::replaces);
  EXPECT_EQ(channel_request({2, 31, 0}), ChannelRequest::lowers);
  EXPECT_EQ(channel_request({2, 40, 0}), ChannelRequest::lowers);
}

// NCCL's own log, 8 ranks (NCCL_ABI.md section 11).
TEST(LaunchRule, GivesNoMoreThanNcclsOwnCountFrom231On) {
  for (const int asked : {1, 2, 4}) {
    EXPECT_EQ(channels_of(asked_ring_ll(asked), 14336, raising), asked);
    EXPECT_EQ(channels_of(asked_ring_ll(asked), 14336, lowering), 1);
    EXPECT_EQ(channels_of(asked_ring_ll(asked), 57344, lowering), 1);
  }
  EXPECT_EQ(channels_of(tree_ll_on_four, 14336, lowering), 2);
  EXPECT_EQ(channels_of(tree_ll_on_four, 57344, lowering), 4);
}

TEST(LaunchRule, GivesWhatIsAskedForUnderALowerThreshold) {
  const auto limits = with_ring_ll_threshold(1);

  for (const int asked : {1, 2, 4})
    EXPECT_EQ(channels_of(asked_ring_ll(asked), 14336, lowering, limits), asked);
  EXPECT_EQ(channels_of(asked_ring_ll(0), 57344, lowering, limits), 14);
}

TEST(LaunchRule, KeepsTheThreadsOfNcclsOwnCountWhenChannelsAreLowered) {
  const Communicator communicator{8, 16, lowering, with_ring_ll_threshold(8)};

  EXPECT_EQ(launch_of(asked_ring_ll(1), 14336, communicator).threads, 512);
  EXPECT_EQ(launch_of(asked_ring_ll(1), 14336, {8, 16, lowering, {}}).threads, 128);
}

}  // namespace
}  // namespace lanewise
