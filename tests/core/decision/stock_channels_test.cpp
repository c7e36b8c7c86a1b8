// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/stock_channels.hpp"

#include <gtest/gtest.h>

#include "core/model/waves.hpp"
#include "model_builders.hpp"

namespace lanewise {
namespace {

constexpr Choice stock_ring_ll{Algorithm::ring, Protocol::ll, 0};

NcclLimits base_limits() {
  NcclLimits limits;
  limits.thread_thresholds[1][0] = 8;
  return limits;
}

CostArray costs_for(const Choice& pick) {
  CostArray costs;
  costs.fill(-1.0F);
  costs[0] = costs[2] = costs[3] = costs[5] = 50.0F;
  costs[static_cast<std::size_t>(pick.algorithm) * 3 + static_cast<std::size_t>(pick.protocol)] =
      10.0F;
  return costs;
}

std::optional<int> answer(const StockChannels& stock, Query query,
                          const Choice& pick = stock_ring_ll) {
  CostArray costs = costs_for(pick);
  return stock.answer(query, testing::view(costs));
}

Query call_of(Collective collective, std::size_t bytes, int ranks = 8) {
  return {collective, bytes, ranks, 1, 1};
}

TEST(StockChannels, AreLeftToNcclOutsideTheBaseEnvironment) {
  NcclLimits own = base_limits();
  own.thread_thresholds[1][0] = 1;

  for (const NcclLimits& limits : {NcclLimits{}, own}) {
    const StockChannels stock(8, {2, 32, 3}, limits);
    EXPECT_FALSE(stock.is_needed());
    EXPECT_FALSE(answer(stock, call_of(Collective::all_reduce, 14336)));
  }
}

TEST(StockChannels, AreAskedForByEveryCollectiveAndOverNodes) {
  const StockChannels stock(8, {2, 32, 3}, base_limits());
  for (const auto collective : {Collective::broadcast, Collective::reduce, Collective::all_gather,
                                Collective::reduce_scatter, Collective::all_reduce}) {
    Query query = call_of(collective, 131072);
    EXPECT_EQ(answer(stock, query), 4);
    query.nodes = 2;
    EXPECT_EQ(answer(stock, query), 4);
  }
}

TEST(StockChannels, AreLeftToNcclWhereNoThresholdMoved) {
  const StockChannels stock(8, {2, 32, 3}, base_limits());
  const Query query = call_of(Collective::all_reduce, 131072);

  for (const Choice& pick :
       {Choice{Algorithm::tree, Protocol::ll, 0}, Choice{Algorithm::ring, Protocol::simple, 0}})
    EXPECT_FALSE(answer(stock, query, pick));
}

TEST(StockChannels, AreLeftToNcclWhereItShowsNoCosts) {
  const StockChannels stock(8, {2, 32, 3}, base_limits());
  CostArray none;
  none.fill(-1.0F);

  EXPECT_FALSE(stock.answer(call_of(Collective::all_reduce, 14336), {}));
  EXPECT_FALSE(stock.answer(call_of(Collective::all_reduce, 14336), testing::view(none)));
  EXPECT_FALSE(answer(stock, call_of(Collective::all_reduce, 0)));
}

// NCCL before 2.31 indexes its channels by this count without a look.
TEST(StockChannels, NeverExceedTheFewestWhereNcclDoesNotCheck) {
  const StockChannels unchecked(8, {2, 30, 7}, base_limits());
  EXPECT_EQ(answer(unchecked, call_of(Collective::all_gather, 65536)), 2);
  EXPECT_FALSE(answer(unchecked, call_of(Collective::all_gather, 131072)));
  EXPECT_EQ(answer(unchecked, call_of(Collective::reduce_scatter, 131072)), 4);

  const StockChannels checked(8, {2, 32, 3}, base_limits());
  EXPECT_EQ(answer(checked, call_of(Collective::all_gather, 131072)), 4);
}

// In every communicator: the plugin does not know its channels.
TEST(StockChannels, BringBackStocksLaunchAndNeverMoreWaves) {
  for (const NcclRelease release :
       {NcclRelease{2, 22, 3}, NcclRelease{2, 28, 9}, NcclRelease{2, 30, 7}, NcclRelease{2, 32, 3}})
    for (const int ranks : {2, 4, 8, 64})
      for (const int channels : {1, 2, 4, 16, 32})
        for (std::size_t bytes = 512; bytes <= 4 << 20; bytes += bytes / 5 / 16 * 16 + 16) {
          const StockChannels stock(ranks, release, base_limits());
          const auto asked = answer(stock, call_of(Collective::all_reduce, bytes, ranks));
          ASSERT_TRUE(asked);
          const Launch ours = launch_of({Algorithm::ring, Protocol::ll, *asked}, bytes,
                                        {ranks, channels, release, base_limits()});
          const Launch theirs = launch_of(stock_ring_ll, bytes, {ranks, channels, release, {}});

          EXPECT_EQ(ours.channels, theirs.channels) << ranks << ' ' << channels << ' ' << bytes;
          EXPECT_LE(ours.waves, theirs.waves);
          EXPECT_GE(ours.threads, theirs.threads);
          if (bytes >= 4096U * static_cast<std::size_t>(ranks)) {
            EXPECT_EQ(ours, theirs);
          }
        }
}

}  // namespace
}  // namespace lanewise
