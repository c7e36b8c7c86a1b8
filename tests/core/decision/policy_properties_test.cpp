// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <random>

#include "core/decision/policy.hpp"
#include "model_builders.hpp"

namespace lanewise {
namespace {

using testing::all_reduce;
using testing::policy_inputs;
using testing::view;

constexpr int rounds = 3000;

// Tables as NCCL never makes them: holes, fp8's -1024, zero, not a number, absurd and tiny costs.
class RandomTables {
 public:
  CostArray next() {
    CostArray costs;
    const bool is_sparse = pick(2) == 0;
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = entry(is_sparse && i >= 6);
    return costs;
  }
  std::size_t next_bytes() { return std::size_t{1} << pick(26) | std::size_t(pick(1 << 20)); }
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

 private:
  float entry(bool is_hole) {
    if (is_hole) return -1.0F;
    switch (pick(8)) {
      case 0:
        return -1.0F;
      case 1:
        return -1024.0F;
      case 2:
        return pick(4) == 0 ? 0.0F : std::numeric_limits<float>::quiet_NaN();
      default:
        return std::exponential_distribution<float>(0.01F)(random_);
    }
  }
  std::mt19937 random_{20260701};
};

PolicyInputs random_inputs(RandomTables& random) {
  constexpr std::array ranks = {2, 4, 8, 16};
  constexpr std::array releases = {NcclRelease{2, 21, 5}, NcclRelease{2, 22, 3},
                                   NcclRelease{2, 24, 3}, NcclRelease{2, 28, 9},
                                   NcclRelease{2, 30, 7}};
  PolicyInputs inputs =
      policy_inputs(ranks[std::size_t(random.pick(4))], releases[std::size_t(random.pick(5))]);
  if (random.pick(2) == 0) inputs.nvlink = NvlinkKnowledge::impossible;
  if (random.pick(2) == 0) inputs.limits.min_channels = 1 << random.pick(8);
  if (random.pick(3) == 0)
    inputs.profile = MeasuredGroup{
        RuleSet({Rule{{1, 65536}, {Algorithm::ring, Protocol::ll128, random.pick(80)}},
                 Rule{{65537, 1 << 20}, {Algorithm::tree, Protocol::ll, random.pick(80)}}}),
        random.pick(2) == 0 ? Ll128Evidence::soaked : Ll128Evidence::none, LinkKind::pcie};
  return inputs;
}

TEST(PolicyProperties, ChoosesOnlyWhatNcclPricedWithChannelsItHas) {
  RandomTables random;
  int answers = 0;
  for (int i = 0; i < rounds; ++i) {
    const PolicyInputs inputs = random_inputs(random);
    CostArray costs = random.next();
    const auto decision =
        Policy(inputs).decide(all_reduce(random.next_bytes(), inputs.ranks), view(costs));
    if (!decision) continue;
    ++answers;
    EXPECT_TRUE(view(costs).cost(decision->choice.algorithm, decision->choice.protocol));
    EXPECT_GE(decision->choice.channels, 0);
    EXPECT_LE(decision->choice.channels, inputs.release.max_channels());
    if (decision->choice.protocol == Protocol::ll128) {
      EXPECT_EQ(inputs.profile->ll128, Ll128Evidence::soaked);
    }
  }
  EXPECT_GT(answers, rounds / 20);
}

TEST(PolicyProperties, DecidingWritesNothing) {
  RandomTables random;
  const Policy policy(policy_inputs());
  for (int i = 0; i < rounds; ++i) {
    CostArray costs = random.next();
    const CostArray before = costs;
    static_cast<void>(policy.decide(all_reduce(random.next_bytes()), view(costs)));
    EXPECT_EQ(std::memcmp(costs.data(), before.data(), sizeof costs), 0);
  }
}

TEST(PolicyProperties, EveryRankGetsTheSameAnswer) {
  RandomTables random;
  const Policy one(policy_inputs());
  const Policy other(policy_inputs());
  for (int i = 0; i < rounds; ++i) {
    CostArray costs = random.next();
    const Query query = all_reduce(random.next_bytes());
    // The other rank has been asked other things in between.
    static_cast<void>(other.decide(all_reduce(random.next_bytes()), view(costs)));
    EXPECT_EQ(one.decide(query, view(costs)), other.decide(query, view(costs)));
  }
}

TEST(PolicyProperties, PricesMatterOnlyThroughStocksPickAndTheLink) {
  RandomTables random;
  const WavePolicy policy(policy_inputs());
  int compared = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::size_t bytes = random.next_bytes() % (2 << 20) + 1;
    CostModelInputs machine = testing::host_memory_machine();
    machine.ring.channel_bandwidth = 0.05 + random.pick(30);
    CostArray exact = cost_array(bytes, machine);
    CostArray perturbed = exact;
    for (auto& cost : perturbed) cost *= 0.8F + 0.4F * float(random.pick(1000)) / 1000;
    const auto link = [&](CostArray& costs) {
      return link_evidence(view(costs), bytes, 8, 1).kind;
    };
    if (view(exact).stock_pick() != view(perturbed).stock_pick() || link(exact) != link(perturbed))
      continue;
    ++compared;
    EXPECT_EQ(policy.verdict(all_reduce(bytes), view(exact)).choice,
              policy.verdict(all_reduce(bytes), view(perturbed)).choice);
  }
  EXPECT_GT(compared, rounds / 3);
}

TEST(PolicyProperties, IsSilentForOneRankSeveralNodesAndOtherCollectives) {
  RandomTables random;
  const Policy policy(policy_inputs());
  for (int i = 0; i < rounds; ++i) {
    CostArray costs = random.next();
    Query query = all_reduce(random.next_bytes());
    switch (i % 3) {
      case 0:
        query.collective = static_cast<Collective>(random.pick(4));
        break;
      case 1:
        query.nodes = 2 + random.pick(3);
        break;
      default:
        query.ranks = 1;
    }
    EXPECT_FALSE(policy.decide(query, view(costs)));
  }
}

}  // namespace
}  // namespace lanewise
