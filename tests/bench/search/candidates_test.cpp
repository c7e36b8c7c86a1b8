// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "search/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "search/crowding.hpp"

namespace lanewise {
namespace {

constexpr Communicator eight_ranks{8, 4, {2, 30, 7}, {}, GpuSharing::shared};
constexpr std::size_t row_bytes = 14336;  // hidden 7168 in bf16

const std::vector<Choice> entries = {{Algorithm::tree, Protocol::ll, 0},
                                     {Algorithm::tree, Protocol::simple, 0},
                                     {Algorithm::ring, Protocol::ll, 0},
                                     {Algorithm::ring, Protocol::simple, 0}};

TEST(Candidates, TakesWhatNcclPricesAndLl128OnlyWhenAllowed) {
  std::array<float, 21> costs;
  costs.fill(-1.0F);
  costs[0] = 20;  // tree/ll
  costs[4] = 10;  // ring/ll128
  const CostTable table(costs.data(), 7, 3);

  EXPECT_EQ(priced_entries(table, Ll128Use::never),
            (std::vector<Choice>{{Algorithm::tree, Protocol::ll, 0}}));
  EXPECT_EQ(priced_entries(table, Ll128Use::where_priced).size(), 2U);
}

TEST(Candidates, ChannelCountsRiseToTheCommunicatorsOwn) {
  EXPECT_EQ(channel_counts(1), (std::vector<int>{1}));
  EXPECT_EQ(channel_counts(4), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(channel_counts(5), (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(channel_counts(64).back(), 64);
}

TEST(Candidates, NeverTwoThatNcclLaunchesAlike) {
  const Communicator wide{8, 64, {2, 30, 7}, {}};

  for (const std::size_t bytes : {std::size_t{2048}, row_bytes, std::size_t{1} << 20U}) {
    const auto candidates = enumerate_candidates(entries, bytes, wide);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool is_same_entry = candidates[i].algorithm == candidates[j].algorithm &&
                                   candidates[i].protocol == candidates[j].protocol;
        EXPECT_FALSE(is_same_entry &&
                     launch_of(candidates[i], bytes, wide) == launch_of(candidates[j], bytes, wide))
            << to_string(candidates[i]) << " at " << bytes;
      }
    }
  }
}

TEST(Candidates, AsksForNoMoreChannelsThanTheReleaseGives) {
  const Choice ring_ll128{Algorithm::ring, Protocol::ll128, 0};
  const std::vector<Choice> ring = {entries[2], ring_ll128};
  Communicator lowering{8, 16, {2, 32, 3}, {}};

  EXPECT_EQ(enumerate_candidates(ring, row_bytes, lowering),
            (std::vector<Choice>{{Algorithm::ring, Protocol::ll, 1},
                                 {Algorithm::ring, Protocol::ll128, 1},
                                 {Algorithm::ring, Protocol::ll128, 2}}));

  lowering.limits.thread_thresholds[1][0] = 8;
  EXPECT_EQ(enumerate_candidates({&entries[2], 1}, row_bytes, lowering),
            (std::vector<Choice>{{Algorithm::ring, Protocol::ll, 1},
                                 {Algorithm::ring, Protocol::ll, 2}}));
}

TEST(Candidates, AsksForNoMoreChannelsThanThereAre) {
  for (const Choice& choice : enumerate_candidates(entries, 1U << 20U, eight_ranks)) {
    EXPECT_GE(choice.channels, 1);
    EXPECT_LE(choice.channels, eight_ranks.channels);
  }
}

TEST(Candidates, PruningKeepsOneOfEachAlgorithmAndProtocol) {
  const auto all = enumerate_candidates(entries, row_bytes, eight_ranks);

  const auto kept = prune_by_model(all, row_bytes, eight_ranks, 3);

  std::set<std::pair<Algorithm, Protocol>> seen;
  for (const Choice& choice : kept) seen.emplace(choice.algorithm, choice.protocol);
  EXPECT_EQ(seen.size(), entries.size());
  EXPECT_LT(kept.size(), all.size());
}

TEST(Candidates, PruningPutsTheModelsFavouriteFirst) {
  const auto all = enumerate_candidates(entries, row_bytes, eight_ranks);

  const auto kept = prune_by_model(all, row_bytes, eight_ranks, 4);

  EXPECT_EQ(kept.front().algorithm, Algorithm::tree);
  EXPECT_EQ(kept.front().protocol, Protocol::ll);
}

TEST(Candidates, PruningKeepsWhatTheModelDoesNotKnow) {
  const std::vector<Choice> all = {{Algorithm::nvls, Protocol::simple, 4},
                                   {Algorithm::ring, Protocol::ll, 1},
                                   {Algorithm::ring, Protocol::ll128, 2}};

  const auto kept = prune_by_model(all, row_bytes, eight_ranks, 1);

  EXPECT_EQ(kept, (std::vector<Choice>{all[1], all[0], all[2]}));
}

TEST(Candidates, Ll128ThatTheRanksAskedForIsNoSignOfNvlink) {
  const std::vector<Choice> seen = {{Algorithm::ring, Protocol::ll, 0},
                                    {Algorithm::ring, Protocol::ll128, 0}};

  EXPECT_EQ(link_of_entries(seen, {}), LinkKind::nvlink);
  EXPECT_EQ(link_of_entries(seen, {{"NCCL_PROTO", "LL,LL128"}}), LinkKind::pcie);
  EXPECT_EQ(link_of_entries(std::span(seen).first(1), {}), LinkKind::pcie);
}

TEST(Crowding, RanksThatShareAGpuHaveItsMultiprocessorsAmongThem) {
  EXPECT_EQ(channels_that_fit(8, 1, 132), 16);
  EXPECT_EQ(channels_that_fit(8, 2, 132), 33);
  EXPECT_EQ(channels_that_fit(5, 2, 132), 44);
  EXPECT_EQ(channels_that_fit(64, 1, 46), 1);
}

TEST(Crowding, RanksWithAGpuEachAreNotLimited) {
  EXPECT_EQ(channels_that_fit(4, 4, 132), std::nullopt);
}

}  // namespace
}  // namespace lanewise
