// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/one_shot_shape.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

constexpr std::uint64_t everyone = ~std::uint64_t{0};

// Ranks take the GPUs in turn; each reaches those of its own GPU.
std::vector<OneShotPlace> places(int ranks, int gpus) {
  std::vector<OneShotPlace> result;
  for (int rank = 0; rank < ranks; ++rank) {
    OneShotPlace place{static_cast<std::uint64_t>(rank % gpus), 132, 0};
    for (int other = rank % gpus; other < ranks; other += gpus) {
      place.reach |= std::uint64_t{1} << static_cast<unsigned>(other);
    }
    result.push_back(place);
  }
  return result;
}

TEST(OneShotShape, GoesThroughHostMemoryUnlessBothEndsReachEachOther) {
  std::vector<OneShotPlace> ranks = places(3, 3);
  ranks[0].reach = everyone;
  ranks[1].reach = 0b011;

  const OneShotShape shape = shape_of(ranks);

  EXPECT_FALSE(shape.uses_host[0][1]);
  EXPECT_TRUE(shape.uses_host[0][2]);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(shape.uses_host[a][b], shape.uses_host[b][a]);
  }
}

TEST(OneShotShape, KeepsRanksOfOneGpuInItsMemory) {
  const OneShotShape shape = shape_of(places(8, 2));

  EXPECT_FALSE(shape.uses_host[0][2]);
  EXPECT_TRUE(shape.uses_host[0][1]);
  EXPECT_EQ(shape.host_streams, 4 * 4);
  EXPECT_EQ(shape.peer_streams, 0);
}

TEST(OneShotShape, NeverHasMoreBlocksThanAllRanksOfAGpuFit) {
  for (const int multiprocessors : {1, 7, 46, 132}) {
    for (int ranks = 1; ranks <= most_one_shot_ranks; ++ranks) {
      auto on_one = places(ranks, 1);
      for (OneShotPlace& place : on_one) place.multiprocessors = multiprocessors;

      const OneShotShape shape = shape_of(on_one);

      EXPECT_GE(shape.most_blocks, 1);
      if (ranks <= multiprocessors) {
        EXPECT_LE(shape.most_blocks * ranks, multiprocessors);
      }
    }
  }
}

TEST(OneShotShape, TakesTheBlocksOfTheSmallestGpu) {
  auto two = places(2, 2);
  two[1].multiprocessors = 5;

  EXPECT_EQ(shape_of(two).most_blocks, 5);
}

TEST(OneShotShape, LeavesLlWhereItsSecondCopyWouldCrowdTheLink) {
  const OneShotShape pair = shape_of(places(2, 2));
  const OneShotShape crowd = shape_of(places(8, 2));

  EXPECT_EQ(pair.protocol_for(14336), OneShotProtocol::ll);
  EXPECT_EQ(crowd.protocol_for(14336), OneShotProtocol::simple);
  EXPECT_EQ(crowd.protocol_for(1024), OneShotProtocol::ll);
  EXPECT_EQ(pair.protocol_for(std::size_t{1} << 20), OneShotProtocol::simple);
}

TEST(OneShotShape, ChoosesLlOnlyForWhatItsLinesHold) {
  const OneShotShape alone = shape_of(places(2, 1));
  for (std::size_t bytes = 1; bytes <= std::size_t{8} << 20; bytes *= 2) {
    if (alone.protocol_for(bytes) == OneShotProtocol::ll) {
      EXPECT_LE(bytes, OneShotArea(std::size_t{8} << 20).ll_bytes);
    }
  }
}

TEST(OneShotShape, RefusesGroupsThatItsPlanCannotHold) {
  EXPECT_THROW(static_cast<void>(shape_of({})), Error);
  EXPECT_THROW(static_cast<void>(shape_of(places(17, 2))), Error);
}

TEST(OneShotArea, HoldsLinesDataAndFlagsWithoutOverlap) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{14336}, std::size_t{1} << 20}) {
    const OneShotArea area(bytes);

    EXPECT_GE(area.max_bytes, bytes);
    EXPECT_GE(area.data_offset, 2 * area.ll_bytes);
    EXPECT_GE(area.flags_offset, area.data_offset + area.max_bytes);
    EXPECT_GE(area.half_bytes, area.flags_offset + 32 * 128);
    EXPECT_EQ(area.half_bytes % 4096, 0U);
  }
}

}  // namespace
}  // namespace lanewise::bench
