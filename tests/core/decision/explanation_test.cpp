// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/explanation.hpp"

#include <gtest/gtest.h>

#include "core/decision/wave_policy.hpp"
#include "model_builders.hpp"

namespace lanewise {
namespace {

using testing::all_reduce;
using testing::host_memory_machine;
using testing::policy_inputs;
using testing::view;

Explanation explain_size(std::size_t bytes, const PolicyInputs& inputs,
                         const CostModelInputs& machine = host_memory_machine()) {
  CostArray costs = cost_array(bytes, machine);
  return explain(inputs, all_reduce(bytes), view(costs), {8, 4, inputs.release, {}});
}

TEST(Explanation, ShowsStocksWavesAndTheChoicesReason) {
  const auto explanation = explain_size(114688, policy_inputs());

  ASSERT_TRUE(explanation.stock && explanation.chosen);
  EXPECT_EQ(explanation.stock->choice, (Choice{Algorithm::ring, Protocol::ll, 3}));
  EXPECT_EQ(explanation.stock->waves, 2);
  EXPECT_EQ(explanation.chosen->choice, (Choice{Algorithm::ring, Protocol::ll, 4}));
  EXPECT_EQ(explanation.chosen->waves, 1);
  EXPECT_EQ(explanation.source, Source::model);
  EXPECT_EQ(explanation.reason, "1 wave instead of 2");
}

TEST(Explanation, SaysThatThePricesOfAFailedSearchAreNotReal) {
  CostModelInputs machine = host_memory_machine();
  machine.ring = machine.tree = {1, 0.1};

  EXPECT_TRUE(explain_size(57344, policy_inputs(), machine).has_absurd_costs);
}

TEST(Explanation, GivesAMeasuredRulesEvidence) {
  PolicyInputs inputs = policy_inputs();
  Rule rule{{8192, 65536}, {Algorithm::tree, Protocol::ll, 4}, 48.9, 22.6, 2.16, 2.1, 2.2, 400};
  inputs.profile = MeasuredGroup{RuleSet({rule}), Ll128Evidence::none, LinkKind::pcie};

  const auto explanation = explain_size(14336, inputs);

  EXPECT_EQ(explanation.source, Source::profile);
  EXPECT_EQ(explanation.reason, "measured 2.16x, 95 % interval 2.10 to 2.20");
}

TEST(Explanation, SaysWhyNothingIsChosen) {
  CostModelInputs machine = host_memory_machine();
  machine.link = LinkKind::nvlink;
  const auto explanation = explain_size(14336, policy_inputs(), machine);

  EXPECT_FALSE(explanation.chosen);
  EXPECT_EQ(explanation.source, Source::none);
  EXPECT_EQ(explanation.reason, text_of(ModelReason::nvlink));
}

TEST(Explanation, HasNoWavesWhereTheModelDoesNotKnowTheProtocol) {
  CostModelInputs machine = host_memory_machine();
  machine.ll128 = Ll128Pricing::priced;
  machine.link = LinkKind::nvlink;
  machine.ring = machine.tree = {8, 40};
  const auto explanation = explain_size(std::size_t{4} << 20, policy_inputs(), machine);

  ASSERT_TRUE(explanation.stock);
  EXPECT_EQ(explanation.stock->choice.protocol, Protocol::ll128);
  EXPECT_FALSE(explanation.stock->waves);
  EXPECT_FALSE(explanation.stock->predicted_us);
}

TEST(Explanation, ShowsStockEvenWhereNcclShowsNoPrices) {
  PolicyInputs inputs = policy_inputs(8, {2, 21, 5});
  inputs.costs = CostTableAccess::without_table;
  const auto explanation = explain_size(14336, inputs);

  EXPECT_TRUE(explanation.stock);
  EXPECT_FALSE(explanation.chosen);
}

}  // namespace
}  // namespace lanewise
