// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "answer_cache.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/decision/model_builders.hpp"
#include "core/decision/policy.hpp"

namespace lanewise::plugin {
namespace {

using testing::policy_inputs;
using testing::view;

constexpr abi::Function all_reduce = 4;

TEST(AnswerCache, IsEmptyAtFirst) {
  const AnswerCache memory;
  CostArray costs = cost_array(0, testing::host_memory_machine());

  EXPECT_EQ(memory.find({0, 0, 0}, view(costs)), nullptr);
  EXPECT_EQ(memory.find({all_reduce, 14336}, view(costs)), nullptr);
}

// Few sizes and few costs, so that most slots are hit, some with other costs.
TEST(AnswerCache, NeverChangesAnAnswer) {
  std::mt19937 random(20260701);
  const auto pick = [&](int count) {
    return std::uniform_int_distribution<int>(0, count - 1)(random);
  };
  const Policy policy(policy_inputs());
  AnswerCache memory;
  int found = 0;
  for (int i = 0; i < 60000; ++i) {
    const Call call{all_reduce, std::size_t{512} * std::size_t(1 + pick(20)), 1 + pick(2)};
    CostArray costs;
    costs.fill(-1.0F);
    for (const std::size_t entry : {0U, 2U, 3U, 5U}) costs[entry] = float(pick(3) * 30 - 1);
    if (pick(8) == 0) costs[14] = 1.0F;
    const CostTable table = view(costs);
    const auto decision =
        policy.decide({Collective::all_reduce, call.bytes, 8, 1, call.pipe_ops}, table);
    const auto choice = decision ? std::optional(decision->choice) : std::nullopt;
    if (const auto* known = memory.find(call, table)) {
      ++found;
      EXPECT_EQ(known->choice, choice);
      EXPECT_EQ(known->call, call);
    }
    if (table.is_tree_and_ring_only()) memory.keep({call, table.bits(), choice});
  }
  EXPECT_GT(found, 100);
}

// What such an entry changes in the answer is not in what is compared.
TEST(AnswerCache, KnowsNothingOfATableWithAnotherEntry) {
  AnswerCache memory;
  CostArray costs = cost_array(14336, testing::host_memory_machine());
  const Call call{all_reduce, 14336};
  memory.keep({call, view(costs).bits(), Choice{Algorithm::ring, Protocol::ll, 4}});
  ASSERT_NE(memory.find(call, view(costs)), nullptr);

  costs[14] = 1.0F;
  EXPECT_EQ(memory.find(call, view(costs)), nullptr);
}

TEST(AnswerCache, TellsEagerFromCapturedCalls) {
  AnswerCache memory;
  CostArray costs = cost_array(14336, testing::host_memory_machine());
  memory.keep({{all_reduce, 14336, 1, host::CallBuffers::eager}, view(costs).bits(), {}});

  EXPECT_EQ(memory.find({all_reduce, 14336, 1, host::CallBuffers::captured}, view(costs)), nullptr);
}

}  // namespace
}  // namespace lanewise::plugin
