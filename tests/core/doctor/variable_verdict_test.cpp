// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/variable_verdict.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

constexpr NcclRelease before{2, 23, 4};
constexpr NcclRelease since{2, 24, 3};

TEST(VariableVerdict, NamesTheFirstWordThatNcclDoesNotKnow) {
  EXPECT_EQ(judge_filter("Ring,tre,x", FilterKind::algorithm, since).unknown_word, "tre");
  EXPECT_EQ(judge_filter("RING,NVLSTree", FilterKind::algorithm, since).unknown_word, "");
  EXPECT_EQ(judge_filter("allreduce:ll;broadcast:l", FilterKind::protocol, since).unknown_word,
            "l");
}

TEST(VariableVerdict, MissesRingOnlyInAListForAllCollectives) {
  EXPECT_TRUE(judge_filter("tree", FilterKind::algorithm, since).lacks_ring);
  EXPECT_TRUE(judge_filter("^ring", FilterKind::algorithm, since).lacks_ring);
  EXPECT_FALSE(judge_filter("^tree", FilterKind::algorithm, since).lacks_ring);
  EXPECT_FALSE(judge_filter("tree", FilterKind::algorithm, before).lacks_ring);
  EXPECT_FALSE(judge_filter("allreduce:tree", FilterKind::algorithm, since).lacks_ring);
}

TEST(VariableVerdict, TellsNegatedListsAndLl128) {
  EXPECT_TRUE(judge_filter("^LL", FilterKind::protocol, since).is_negated);
  EXPECT_FALSE(judge_filter("^LL,LL128", FilterKind::protocol, since).names_ll128);
  EXPECT_TRUE(judge_filter("LL,LL128", FilterKind::protocol, since).names_ll128);
  EXPECT_TRUE(judge_filter("allreduce:ll128", FilterKind::protocol, before).needs_newer);
}

TEST(VariableVerdict, TakesLevelsAsNcclDoes) {
  for (const char* level : {"SYS", "PHB", "LOC", "5", "0x2"})
    EXPECT_TRUE(is_path_level(level, since)) << level;
  for (const char* level : {"sys", "NODE", "", "-1", "C2C"})
    EXPECT_FALSE(is_path_level(level, since)) << level;
  EXPECT_TRUE(is_path_level("P2C", {2, 27, 5}));
}

TEST(VariableVerdict, FindsTheNameThatWasMeant) {
  EXPECT_EQ(find_similar_variable("NCCL_MIN_CHANNELS"), "NCCL_MIN_NCHANNELS");
  EXPECT_EQ(find_similar_variable("NCCL_P2P_LEVLE"), "NCCL_P2P_LEVEL");
  EXPECT_EQ(find_similar_variable("NCCL_BUFSIZE"), "NCCL_BUFFSIZE");
  EXPECT_EQ(find_similar_variable("NCCL_ALGOS"), "NCCL_ALGO");
  EXPECT_EQ(find_similar_variable("NCCL_P2P_LEVEL"), std::nullopt);
  EXPECT_EQ(find_similar_variable("NCCL_SOMETHING"), std::nullopt);
}

}  // namespace
}  // namespace lanewise
