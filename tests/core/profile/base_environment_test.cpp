// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/base_environment.hpp"

#include <gtest/gtest.h>

#include "core/model/latency.hpp"
#include "core/nccl/launch_rule.hpp"

namespace lanewise {
namespace {

constexpr std::array releases = {NcclRelease{2, 22, 3}, NcclRelease{2, 25, 1},
                                 NcclRelease{2, 28, 9}, NcclRelease{2, 30, 7},
                                 NcclRelease{2, 32, 3}};
constexpr std::array rank_counts = {2, 3, 4, 6, 8, 16, 32, 64};
constexpr std::array channel_counts = {1, 2, 4, 8, 16, 32};
constexpr Choice any_ring_ll{Algorithm::ring, Protocol::ll, 0};

// What the host parses from the base environment's variable: a process's, and a communicator's own.
NcclLimits base_limits(int threshold = 8) {
  NcclLimits limits;
  limits.thread_thresholds[1][0] = threshold;
  return limits;
}

NcclLimits own_base_limits(const Communicator& communicator) {
  return base_limits(4 * communicator.ranks + 1);
}

template <class Check>
void for_each_communicator(const NcclLimits& limits, Check check) {
  for (const auto& release : releases)
    for (const int ranks : rank_counts)
      for (const int channels : channel_counts)
        for (std::size_t bytes = 512; bytes <= 4 << 20; bytes += bytes / 7 / 16 * 16 + 16)
          check(Communicator{ranks, channels, release, limits}, bytes);
}

TEST(BaseEnvironment, IsOneVariableForEveryRelease) {
  const Environment expected = {{"NCCL_THREAD_THRESHOLDS", "-1 -1 -1 8"}};

  EXPECT_EQ(base_environment(std::nullopt), expected);
  EXPECT_EQ(base_environment(NcclRelease{2, 30, 7}), expected);
  EXPECT_EQ(base_environment(NcclRelease{2, 32, 3}), expected);
}

TEST(BaseEnvironment, GrowsWithTheRanksOfOneCommunicator) {
  const NcclRelease release{2, 32, 3};
  const auto value_of = [&](int ranks) {
    return base_environment(release, ranks).at(base_variable);
  };

  EXPECT_EQ(value_of(2), "-1 -1 -1 9");
  EXPECT_EQ(value_of(8), "-1 -1 -1 33");
  EXPECT_EQ(value_of(64), "-1 -1 -1 257");
  EXPECT_EQ(value_of(65), "-1 -1 -1 8");
  EXPECT_EQ(value_of(1), "-1 -1 -1 8");
}

// In a run: bench/RESULTS.md. Whoever sees another release do so raises the number.
TEST(BaseEnvironment, IsACommunicatorsOwnWhereNcclAsksAfterTheTunersInit) {
  EXPECT_FALSE(has_base_of_each_communicator({2, 30, 7}));
  EXPECT_TRUE(has_base_of_each_communicator({2, 31, 2}));
  EXPECT_TRUE(has_base_of_each_communicator({2, 32, 3}));
  EXPECT_FALSE(has_base_of_each_communicator({2, 33, 0}));
}

TEST(BaseEnvironment, OfOneCommunicatorKeepsNcclsBlockAtPowersOfTwo) {
  for (const int ranks : {2, 4, 8, 16, 32, 64}) {
    for (std::size_t bytes = 512; bytes <= 4 << 20; bytes *= 2) {
      Communicator stock{ranks, 32, {2, 32, 3}, {}};
      Communicator base = stock;
      base.limits = own_base_limits(stock);
      const auto restored = Choice{any_ring_ll.algorithm, any_ring_ll.protocol,
                                   launch_of(any_ring_ll, bytes, stock).channels};
      EXPECT_EQ(launch_of(restored, bytes, base).threads,
                launch_of(any_ring_ll, bytes, stock).threads)
          << ranks << " ranks, " << bytes;
    }
  }
}

TEST(BaseEnvironment, OfOneCommunicatorMakesAModelsCallsOneWave) {
  for (const int ranks : {2, 4, 8}) {
    for (const int hidden : {4096, 5120, 6144, 7168, 8192}) {
      for (const int tokens : {1, 2, 3, 4, 6, 8, 16}) {
        const auto bytes = static_cast<std::size_t>(2 * hidden * tokens);
        Communicator base{ranks, 32, {2, 32, 3}, {}};
        base.limits = own_base_limits(base);
        EXPECT_EQ(launch_of(any_ring_ll, bytes, base).waves, 1) << ranks << " ranks, " << bytes;
      }
    }
  }
}

TEST(BaseEnvironment, OfOneCommunicatorIsNeverPredictedSlowerThanStocks) {
  for_each_communicator({}, [](const Communicator& stock, std::size_t bytes) {
    Communicator base = stock;
    base.limits = own_base_limits(stock);
    EXPECT_LE(predicted_us(any_ring_ll, bytes, base),
              predicted_us(any_ring_ll, bytes, stock) * 1.0001)
        << to_string(stock.release) << ", " << stock.ranks << " ranks, " << stock.channels
        << " channels, " << bytes;
  });
}

TEST(BaseEnvironment, IsKnownHoweverItIsWritten) {
  NcclLimits spelt_out = base_limits();
  spelt_out.thread_thresholds = {{{8, 8, 64}, {8, 8, 64}}};
  NcclLimits other = base_limits();
  other.thread_thresholds[0][0] = 1;

  EXPECT_TRUE(has_base_thresholds(base_limits(), 8));
  EXPECT_TRUE(has_base_thresholds(spelt_out, 8));
  EXPECT_TRUE(has_base_thresholds(base_limits(33), 8));
  EXPECT_FALSE(has_base_thresholds(base_limits(17), 8));
  EXPECT_FALSE(has_base_thresholds(other, 8));
  EXPECT_FALSE(has_base_thresholds({}, 8));
}

TEST(BaseEnvironment, TakesTheUsersOwnThresholdsForStocks) {
  NcclLimits own;
  own.thread_thresholds[1][0] = 1;

  EXPECT_EQ(stock_limits(own, 8), own);
  EXPECT_EQ(stock_limits(base_limits(), 8), NcclLimits{});
  EXPECT_EQ(stock_limits(base_limits(33), 8), NcclLimits{});
}

// As long as the communicator has the channels for one wave.
TEST(BaseEnvironment, MakesEveryRingLlCallOneWave) {
  for_each_communicator(base_limits(), [](const Communicator& communicator, std::size_t bytes) {
    const std::size_t wave = std::size_t{8} * 512 * static_cast<std::size_t>(communicator.ranks);
    if (bytes > wave * static_cast<std::size_t>(communicator.channels) / 2) return;
    EXPECT_EQ(launch_of(any_ring_ll, bytes, communicator).waves, 1)
        << communicator.ranks << " ranks, " << communicator.channels << " channels, " << bytes;
  });
}

TEST(BaseEnvironment, IsNeverPredictedSlowerThanStocks) {
  for_each_communicator({}, [](const Communicator& stock, std::size_t bytes) {
    Communicator base = stock;
    base.limits = base_limits();
    EXPECT_LE(predicted_us(any_ring_ll, bytes, base),
              predicted_us(any_ring_ll, bytes, stock) * 1.0001)
        << to_string(stock.release) << ", " << stock.ranks << " ranks, " << stock.channels
        << " channels, " << bytes;
  });
}

}  // namespace
}  // namespace lanewise
