// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_environment.hpp"

#include <gtest/gtest.h>

namespace lanewise::host {
namespace {

TEST(NcclEnvironment, LimitsNothingByDefault) {
  EXPECT_EQ(parse_nccl_limits({}), NcclLimits{});
  EXPECT_EQ(parse_nccl_limits({{"NCCL_MIN_NCHANNELS", ""}}), NcclLimits{});
}

TEST(NcclEnvironment, ReadsEveryLimit) {
  const auto limits = parse_nccl_limits({{"NCCL_MIN_NCHANNELS", "16"},
                                         {"NCCL_MAX_NCHANNELS", "0x20"},
                                         {"NCCL_MIN_CTAS", "2"},
                                         {"NCCL_MAX_CTAS", "4"},
                                         {"NCCL_NTHREADS", "256"}});

  EXPECT_EQ(limits.min_channels, 16);
  EXPECT_EQ(limits.max_channels, 32);
  EXPECT_EQ(limits.min_ctas, 2);
  EXPECT_EQ(limits.max_ctas, 4);
  EXPECT_EQ(limits.threads, 256);
}

TEST(NcclEnvironment, PrefersTheNewerNameOfAChannelLimit) {
  const auto limits = parse_nccl_limits(
      {{"NCCL_MIN_NRINGS", "2"}, {"NCCL_MAX_NRINGS", "8"}, {"NCCL_MIN_NCHANNELS", "4"}});

  EXPECT_EQ(limits.min_channels, 4);
  EXPECT_EQ(limits.max_channels, 8);
}

TEST(NcclEnvironment, CountsWordsAndNegativeNumbersAsNotSet) {
  for (const char* value : {"many", "-2", " ", "99999999999999999999"}) {
    EXPECT_EQ(parse_nccl_limits({{"NCCL_MIN_NCHANNELS", value}}), NcclLimits{}) << value;
  }
}

TEST(NcclEnvironment, ReadsThreadThresholdsInNcclsOrder) {
  const auto limits = parse_nccl_limits({{"NCCL_THREAD_THRESHOLDS", "8 -1 64 40 1 7"}});

  EXPECT_EQ(limits.thread_thresholds[0][0], 8);
  EXPECT_EQ(limits.thread_thresholds[0][1], std::nullopt);
  EXPECT_EQ(limits.thread_thresholds[0][2], 64);
  EXPECT_EQ(limits.thread_thresholds[1][0], 40);
  EXPECT_EQ(limits.thread_thresholds[1][1], 1);
  EXPECT_EQ(limits.thread_thresholds[1][2], 7);
}

TEST(NcclEnvironment, SharesGpusOnlyWhereNcclIsToldSo) {
  const auto sharing = [](const char* value) {
    return find_gpu_sharing({{"NCCL_MULTI_RANK_GPU_ENABLE", value}});
  };

  EXPECT_EQ(find_gpu_sharing({}), GpuSharing::one_rank_a_gpu);
  EXPECT_EQ(sharing("0"), GpuSharing::one_rank_a_gpu);
  EXPECT_EQ(sharing("1"), GpuSharing::shared);
}

TEST(NcclEnvironment, KnowsThatPeerAccessIsOffAndNeverThatItWorks) {
  EXPECT_EQ(find_transport({{"NCCL_P2P_DISABLE", "1"}}), Transport::host_memory);
  EXPECT_EQ(find_transport({{"NCCL_P2P_DISABLE", "0"}}), Transport::unknown);
  EXPECT_EQ(find_transport({{"NCCL_P2P_LEVEL", "SYS"}}), Transport::unknown);
  EXPECT_EQ(find_transport({}), Transport::unknown);
}

TEST(NcclEnvironment, KnowsThatTheUserFilters) {
  EXPECT_EQ(find_user_filter({}), UserFilter::none);
  EXPECT_EQ(find_user_filter({{"NCCL_ALGO", ""}}), UserFilter::none);
  EXPECT_EQ(find_user_filter({{"NCCL_ALGO", "ring"}}), UserFilter::set);
  EXPECT_EQ(find_user_filter({{"NCCL_PROTO", "^LL"}}), UserFilter::set);
}

}  // namespace
}  // namespace lanewise::host
