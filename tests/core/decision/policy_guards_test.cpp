// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// What stands between a policy and a call, one at a time: most guards have another behind them.
#include <gtest/gtest.h>

#include "core/decision/policy.hpp"
#include "core/decision/wave_policy.hpp"
#include "model_builders.hpp"

namespace lanewise {
namespace {

using testing::all_reduce;
using testing::host_memory_machine;
using testing::policy_inputs;
using testing::view;

PolicyInputs inputs_of_v2() {
  PolicyInputs inputs = policy_inputs(8, {2, 21, 5});
  inputs.costs = CostTableAccess::without_table;
  inputs.nvlink = NvlinkKnowledge::impossible;
  return inputs;
}

PolicyInputs with_rule(PolicyInputs inputs, const Choice& choice, Ll128Evidence ll128) {
  inputs.profile = MeasuredGroup{RuleSet({Rule{{1, 1 << 20}, choice}}), ll128, LinkKind::pcie};
  return inputs;
}

TEST(InertReason, IsThereForOneRankAndForSeveralNodesWhateverWasMeasured) {
  PolicyInputs inputs =
      with_rule(policy_inputs(), {Algorithm::ring, Protocol::ll, 2}, Ll128Evidence::none);
  EXPECT_FALSE(inert_reason(inputs));

  inputs.nodes = 2;
  EXPECT_EQ(inert_reason(inputs), "more than one node");

  inputs.ranks = 1;
  EXPECT_EQ(inert_reason(inputs), "one rank");
}

TEST(InertReason, IsThereForMixedModelsThatWereNotMeasured) {
  PolicyInputs mixed = policy_inputs();
  mixed.models = GpuModels::differ;
  const Choice choice{Algorithm::ring, Protocol::ll, 2};

  EXPECT_EQ(inert_reason(mixed), text_of(ModelReason::mixed_gpus));
  EXPECT_FALSE(inert_reason(with_rule(mixed, choice, Ll128Evidence::none)));
}

TEST(InertReason, IsThereWithoutPricesWhereTheUserFiltersOrNvlinkIsPossible) {
  EXPECT_FALSE(inert_reason(inputs_of_v2()));

  PolicyInputs filtered = inputs_of_v2();
  filtered.user_filter = UserFilter::set;
  EXPECT_EQ(inert_reason(filtered), text_of(ModelReason::no_costs));

  PolicyInputs unknown = inputs_of_v2();
  unknown.nvlink = NvlinkKnowledge::unknown;
  EXPECT_TRUE(inert_reason(unknown));
}

TEST(MeasuredRule, OfLl128NeedsASoakAndItsPrice) {
  const Choice ll128{Algorithm::ring, Protocol::ll128, 2};
  CostArray costs = cost_array(14336, host_memory_machine());
  costs[4] = 30.0F;
  const auto decide = [](const PolicyInputs& inputs, const CostTable& table) {
    const auto decision = Policy(inputs).decide(all_reduce(14336), table);
    return decision && decision->choice.protocol == Protocol::ll128;
  };
  const auto soaked = with_rule(policy_inputs(), ll128, Ll128Evidence::soaked);

  EXPECT_TRUE(decide(soaked, view(costs)));
  EXPECT_FALSE(decide(with_rule(policy_inputs(), ll128, Ll128Evidence::none), view(costs)));
  EXPECT_FALSE(decide(with_rule(inputs_of_v2(), ll128, Ll128Evidence::soaked), {}));
}

TEST(MeasuredRule, IsForItsOwnRanksOnOneNode) {
  CostArray costs = cost_array(14336, host_memory_machine());
  const auto decide = [&](int ranks, Query query) {
    const Choice choice{Algorithm::ring, Protocol::ll, 2};
    const auto inputs = with_rule(policy_inputs(ranks), choice, Ll128Evidence::none);
    return Policy(inputs).decide(query, view(costs)).has_value();
  };
  Query two_nodes = all_reduce(14336);
  two_nodes.nodes = 2;

  EXPECT_TRUE(decide(8, all_reduce(14336)));
  EXPECT_FALSE(decide(8, two_nodes));
  EXPECT_FALSE(decide(1, all_reduce(14336, 1)));
  EXPECT_FALSE(decide(4, all_reduce(14336)));
}

}  // namespace
}  // namespace lanewise
