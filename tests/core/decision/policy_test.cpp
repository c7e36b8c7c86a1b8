// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/policy.hpp"

#include <gtest/gtest.h>

#include <array>

namespace lanewise {
namespace {

// NCCL's costs of 14 KiB on 8 ranks over PCIe with 2 x 20 GB/s (NCCL_ABI.md section 4).
struct PcieTable {
  std::array<float, 21> costs;
  PcieTable() {
    costs.fill(-1.0F);
    costs[0] = 22.5F;
    costs[2] = 64.8F;
    costs[3] = 21.9F;
    costs[5] = 88.8F;
  }
  CostTable view() { return {costs.data(), 7, 3}; }
};

PolicyInputs eight_ranks() {
  PolicyInputs inputs;
  inputs.ranks = 8;
  inputs.release = {2, 30, 7};
  return inputs;
}

Query call_of(std::size_t bytes) { return {Collective::all_reduce, bytes, 8, 1, 1}; }

TEST(Policy, SpeedsUpAModelShapedSizeWithoutAProfile) {
  PcieTable table;

  const auto decision = Policy(eight_ranks()).decide(call_of(14336), table.view());

  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->source, Source::model);
  EXPECT_EQ(decision->choice.protocol, Protocol::ll);
}

TEST(Policy, AMeasuredRuleComesFirst) {
  PcieTable table;
  PolicyInputs inputs = eight_ranks();
  inputs.profile = MeasuredGroup{
      RuleSet({Rule{{8192, 16384}, {Algorithm::ring, Protocol::simple, 2}}}), {}, LinkKind::pcie};

  const auto decision = Policy(inputs).decide(call_of(14336), table.view());

  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->source, Source::profile);
}

TEST(Policy, NeverMakesAChoiceInWhichRanksHungNorOneOfMoreChannels) {
  PcieTable table;
  PolicyInputs inputs = eight_ranks();
  const auto by_model = Policy(inputs).decide(call_of(14336), table.view());
  ASSERT_TRUE(by_model);
  Choice fewer = by_model->choice;
  fewer.channels = 1;
  const auto decides_beside = [&](const Choice& unsafe) {
    inputs.profile = MeasuredGroup{{}, {}, LinkKind::pcie, {{unsafe, "no rank goes on"}}};
    return Policy(inputs).decide(call_of(14336), table.view()).has_value();
  };

  EXPECT_FALSE(decides_beside(by_model->choice));
  EXPECT_FALSE(decides_beside(fewer));
  EXPECT_TRUE(decides_beside({Algorithm::ring, Protocol::simple, 1}));
}

// The model would answer here: see above.
TEST(Policy, IsSilentWhereStockWasMeasuredToBeAsGood) {
  PcieTable table;
  PolicyInputs inputs = eight_ranks();
  inputs.profile = MeasuredGroup{RuleSet({}, {14336}), {}, LinkKind::pcie};

  EXPECT_FALSE(Policy(inputs).decide(call_of(14336), table.view()));
  EXPECT_TRUE(Policy(inputs).decide(call_of(14352), table.view()));
}

TEST(Policy, NeverAnswersForOneRankSeveralNodesOrOtherCollectives) {
  PcieTable table;
  const Policy policy(eight_ranks());
  Query other = call_of(14336);
  other.collective = Collective::all_gather;
  Query nodes = call_of(14336);
  nodes.nodes = 2;
  PolicyInputs single = eight_ranks();
  single.ranks = 1;
  Query one = call_of(14336);
  one.ranks = 1;

  EXPECT_FALSE(policy.decide(other, table.view()));
  EXPECT_FALSE(policy.decide(nodes, table.view()));
  EXPECT_FALSE(Policy(single).decide(one, table.view()));
}

TEST(Policy, IsInertOverNvlink) {
  PcieTable table;
  table.costs[3] = 15.2F;
  table.costs[5] = 56.1F;

  EXPECT_FALSE(Policy(eight_ranks()).decide(call_of(14336), table.view()));
}

// A list of models can be wrong; what NCCL found in the machine is not.
TEST(Policy, ThePricesOfNvlinkCountMoreThanAModelWithout) {
  PcieTable table;
  PolicyInputs inputs = eight_ranks();
  inputs.nvlink = NvlinkKnowledge::impossible;
  ASSERT_TRUE(Policy(inputs).decide(call_of(14336), table.view()));

  PcieTable nvlink;
  nvlink.costs[3] = 15.2F;
  nvlink.costs[5] = 56.1F;
  EXPECT_FALSE(Policy(inputs).decide(call_of(14336), nvlink.view()));

  PcieTable ll128;
  ll128.costs[4] = 20.0F;
  EXPECT_FALSE(Policy(inputs).decide(call_of(14336), ll128.view()));
}

TEST(Policy, OverNvlinkUsesOnlyRulesMeasuredThere) {
  PcieTable table;
  table.costs[3] = 15.2F;
  table.costs[5] = 56.1F;
  PolicyInputs inputs = eight_ranks();
  inputs.profile = MeasuredGroup{
      RuleSet({Rule{{8192, 16384}, {Algorithm::ring, Protocol::ll, 2}}}), {}, LinkKind::pcie};

  EXPECT_FALSE(Policy(inputs).decide(call_of(14336), table.view()));

  inputs.profile->link = LinkKind::nvlink;
  EXPECT_TRUE(Policy(inputs).decide(call_of(14336), table.view()));
}

}  // namespace
}  // namespace lanewise
