// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/wave_policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model_builders.hpp"
#include "support/stock_tables.hpp"

namespace lanewise {
namespace {

using testing::all_reduce;
using testing::host_memory_machine;
using testing::policy_inputs;
using testing::view;

ModelVerdict verdict_of(const PolicyInputs& inputs, CostArray costs, std::size_t bytes = 14336) {
  return WavePolicy(inputs).verdict(all_reduce(bytes, inputs.ranks), view(costs));
}

CostArray host_memory_costs(std::size_t bytes) { return cost_array(bytes, host_memory_machine()); }

TEST(WavePolicy, RemovesTheSecondWaveOfModelShapedSizes) {
  for (const std::size_t bytes : {14336U, 28672U, 57344U, 114688U}) {
    const auto verdict = verdict_of(policy_inputs(), host_memory_costs(bytes), bytes);

    EXPECT_EQ(verdict.reason, ModelReason::faster) << bytes;
    ASSERT_TRUE(verdict.choice) << bytes;
    EXPECT_EQ(verdict.choice->protocol, Protocol::ll) << bytes;
  }
}

TEST(WavePolicy, LeavesAOneWavePowerOfTwoAlone) {
  const auto verdict =
      verdict_of(policy_inputs(2), cost_array(65536, host_memory_machine(2)), 65536);

  EXPECT_FALSE(verdict.choice);
  EXPECT_EQ(verdict.reason, ModelReason::stock_is_best);
}

TEST(WavePolicy, TakesTwoAndFourChannelsAsPlausible) {
  const WavePolicy policy(policy_inputs());

  ASSERT_EQ(policy.plausible().size(), 2U);
  EXPECT_EQ(policy.plausible()[0].channels, 2);
  EXPECT_EQ(policy.plausible()[1].channels, 4);
}

TEST(WavePolicy, BelievesTheEnvironmentAboutChannels) {
  PolicyInputs inputs = policy_inputs();
  inputs.limits.min_channels = 16;
  const WavePolicy policy(inputs);

  ASSERT_EQ(policy.plausible().size(), 1U);
  EXPECT_EQ(policy.plausible()[0].channels, 16);
}

TEST(WavePolicy, IsNeverWorseThanStockForAnyPlausibleChannelCount) {
  for (std::size_t bytes = 1024; bytes <= 4 << 20; bytes += 1024) {
    CostArray costs = host_memory_costs(bytes);
    const auto verdict = verdict_of(policy_inputs(), costs, bytes);
    if (!verdict.choice) continue;
    const Choice stock{verdict.stock->algorithm, verdict.stock->protocol, 0};
    for (const int channels : {2, 4}) {
      const Communicator communicator{8, channels, {2, 30, 7}, {}};
      EXPECT_LE(predicted_us(*verdict.choice, bytes, communicator),
                1.001 * predicted_us(stock, bytes, communicator))
          << bytes << " on " << channels;
    }
  }
}

TEST(WavePolicy, AvoidsTreeOnACollapsingSwitch) {
  // Ranks that share GPUs: there the model likes Tree.
  PolicyInputs inputs = policy_inputs();
  inputs.sharing = GpuSharing::shared;
  const auto trees_on = [&](SwitchKnowledge switches) {
    inputs.switches = switches;
    int trees = 0;
    for (std::size_t bytes = 1024; bytes <= 4 << 20; bytes *= 2) {
      const auto verdict = verdict_of(inputs, host_memory_costs(bytes), bytes);
      trees += verdict.choice && verdict.choice->algorithm == Algorithm::tree ? 1 : 0;
    }
    return trees;
  };

  EXPECT_GT(trees_on(SwitchKnowledge::sound), 0);
  EXPECT_EQ(trees_on(SwitchKnowledge::collapsing), 0);
}

TEST(WavePolicy, SaysWhyItIsSilent) {
  PolicyInputs inputs = policy_inputs();
  inputs.models = GpuModels::differ;
  EXPECT_EQ(verdict_of(inputs, host_memory_costs(14336)).reason, ModelReason::mixed_gpus);

  CostArray one_protocol = host_memory_costs(14336);
  one_protocol[2] = one_protocol[5] = -1.0F;
  EXPECT_EQ(verdict_of(policy_inputs(), one_protocol).reason, ModelReason::unknown_link);

  EXPECT_EQ(verdict_of(policy_inputs(), host_memory_costs(8 << 20), 8 << 20).reason,
            ModelReason::outside_sizes);

  CostArray nvls = host_memory_costs(14336);
  nvls[4 * 3 + 2] = 3.0F;
  EXPECT_EQ(verdict_of(policy_inputs(), nvls).reason, ModelReason::not_modelled);
}

TEST(WavePolicy, TakesPricedLl128ForNvlinkUnlessTheUserAskedForIt) {
  CostModelInputs machine = host_memory_machine();
  machine.ll128 = Ll128Pricing::priced;
  const CostArray costs = cost_array(14336, machine);
  PolicyInputs inputs = policy_inputs();
  EXPECT_EQ(verdict_of(inputs, costs).reason, ModelReason::nvlink);

  inputs.user_filter = UserFilter::set;
  EXPECT_EQ(verdict_of(inputs, costs).reason, ModelReason::faster);
}

TEST(WavePolicy, StaysSilentForGroupsOfOperations) {
  CostArray costs = host_memory_costs(14336);
  Query query = all_reduce(14336);
  query.pipe_ops = 2;

  EXPECT_EQ(WavePolicy(policy_inputs()).verdict(query, view(costs)).reason, ModelReason::grouped);
}

PolicyInputs inputs_of(int ranks, NcclRelease release, bool has_base) {
  PolicyInputs inputs = policy_inputs(ranks, release);
  if (has_base) inputs.limits.thread_thresholds[1][0] = 8;
  return inputs;
}

// In the plausible communicator that has most.
TEST(WavePolicy, NeverAsksForMoreThanTheReleaseGives) {
  for (const NcclRelease release : {NcclRelease{2, 31, 2}, NcclRelease{2, 32, 3}})
    for (const int ranks : {2, 4, 8, 16})
      for (const bool has_base : {false, true})
        for (std::size_t bytes = 1024; bytes <= 1 << 20; bytes += bytes / 9 / 16 * 16 + 16) {
          const WavePolicy policy(inputs_of(ranks, release, has_base));
          CostArray costs = cost_array(bytes, host_memory_machine(ranks));
          const auto choice = policy.verdict(all_reduce(bytes, ranks), view(costs)).choice;
          if (!choice) continue;
          int most = 0;
          for (const Communicator& communicator : policy.plausible())
            most = std::max(
                most, most_channels(choice->algorithm, choice->protocol, bytes, communicator));
          EXPECT_LE(choice->channels, most) << bytes << ", " << ranks << " ranks";
        }
}

TEST(WavePolicy, PredictsNoGainOfMoreChannelsWhereTheReleaseGivesNone) {
  for (const std::size_t bytes : {14336U, 57344U}) {
    PolicyInputs inputs = policy_inputs(8, {2, 32, 3});
    CostArray costs = host_memory_costs(bytes);
    costs[0] = costs[2] = -1.0F;  // no tree

    EXPECT_FALSE(WavePolicy(inputs).verdict(all_reduce(bytes), view(costs)).choice) << bytes;
    inputs.limits.thread_thresholds[1][0] = 8;
    EXPECT_TRUE(WavePolicy(inputs).verdict(all_reduce(bytes), view(costs)).choice) << bytes;
  }
}

// The base environment gives back what 2.30.7 has without it.
TEST(WavePolicy, PredictsTheSameGainOfEveryReleaseInTheBaseEnvironment) {
  for (const int ranks : {4, 8})
    for (const std::size_t tokens : {1, 2, 3, 4, 6, 8, 16}) {
      const std::size_t bytes = 14336 * tokens;
      const auto us_of = [&](NcclRelease release, bool has_base) {
        const WavePolicy policy(inputs_of(ranks, release, has_base));
        CostArray costs = cost_array(bytes, host_memory_machine(ranks));
        const auto verdict = policy.verdict(all_reduce(bytes, ranks), view(costs));
        Communicator communicator = policy.plausible().back();
        if (verdict.choice) return predicted_us(*verdict.choice, bytes, communicator);
        communicator.limits = {};
        return predicted_us({verdict.stock->algorithm, verdict.stock->protocol, 0}, bytes,
                            communicator);
      };
      const double before = us_of({2, 30, 7}, false);

      EXPECT_LE(us_of({2, 32, 3}, true), before * 1.02) << bytes << ' ' << ranks;
      EXPECT_LE(us_of({2, 30, 7}, true), before * 1.001) << bytes << ' ' << ranks;
    }
}

PolicyInputs without_costs() {
  PolicyInputs inputs = policy_inputs(8, {2, 21, 5});
  inputs.costs = CostTableAccess::without_table;
  inputs.nvlink = NvlinkKnowledge::impossible;
  return inputs;
}

TEST(WavePolicy, AnswersWithoutPricesOnlyWhereNvlinkIsImpossible) {
  PolicyInputs inputs = without_costs();
  const Query query = all_reduce(14336);
  EXPECT_TRUE(WavePolicy(inputs).verdict(query, {}).choice);

  inputs.nvlink = NvlinkKnowledge::unknown;
  EXPECT_EQ(WavePolicy(inputs).verdict(query, {}).reason, ModelReason::unknown_link);

  inputs = without_costs();
  inputs.user_filter = UserFilter::set;
  EXPECT_EQ(WavePolicy(inputs).verdict(query, {}).reason, ModelReason::no_costs);
}

TEST(WavePolicy, TakesLlForSmallSizesWithoutPrices) {
  for (const int ranks : {2, 4, 8}) {
    PolicyInputs inputs = without_costs();
    inputs.ranks = ranks;
    for (std::size_t bytes = 8 << 10; bytes <= 256 << 10; bytes += 1024) {
      const auto verdict = WavePolicy(inputs).verdict(all_reduce(bytes, ranks), {});
      // NCCL may take LL by itself: where nothing beats that, there is no answer.
      if (verdict.choice) {
        EXPECT_EQ(verdict.choice->protocol, Protocol::ll) << ranks << " ranks, " << bytes;
      }
    }
  }
}

// Measured on four H200s, a rank each: Tree takes 1.08 and 1.25 times stock's Ring.
TEST(WavePolicy, KeepsRingForSmallSizesOfFourRanksWithAGpuEach) {
  for (const std::size_t bytes : {2048U, 8192U}) {
    const auto verdict =
        verdict_of(policy_inputs(4), cost_array(bytes, host_memory_machine(4)), bytes);
    const auto used = verdict.choice ? verdict.choice : verdict.stock;

    ASSERT_TRUE(used) << bytes;
    EXPECT_EQ(used->algorithm, Algorithm::ring) << bytes;
  }
}

// On four H200s Tree took 1.5 to 60 times as long there; nobody has measured more GPUs.
TEST(WavePolicy, NeverTakesTreeForLargeSizesWithAGpuForEachRank) {
  for (const int ranks : {2, 4, 8, 16})
    for (std::size_t bytes = 129 << 10; bytes <= 4 << 20; bytes += 8 << 10)
      for (const int channels : {1, 4, 16, 64}) {
        PolicyInputs inputs = policy_inputs(ranks);
        inputs.channels = channels;
        const auto verdict =
            verdict_of(inputs, cost_array(bytes, host_memory_machine(ranks)), bytes);
        if (verdict.choice) {
          EXPECT_NE(verdict.choice->algorithm, Algorithm::tree) << ranks << ' ' << bytes;
        }
      }
}

// Their real links were narrower than what NCCL found of them on no machine of the list.
constexpr LinkRates gen5_x16 = {63.0, 63.0};

TEST(WavePolicy, BelievesNoWidthOfAFailedSearchWhereNobodyCanReadTheLinks) {
  CostModelInputs failed = host_memory_machine();
  failed.ring = failed.tree = {1, 0.1};
  PolicyInputs inputs = policy_inputs();
  const auto takes_ll = [&](std::size_t bytes) {
    const auto choice = verdict_of(inputs, cost_array(bytes, failed), bytes).choice;
    return choice && choice->protocol == Protocol::ll;
  };
  EXPECT_TRUE(takes_ll(14336));
  EXPECT_FALSE(takes_ll(114688));

  inputs.links = gen5_x16;
  EXPECT_TRUE(takes_ll(114688));
}

class StockMachine : public ::testing::TestWithParam<const char*> {};

// Two ranks on two channels: NCCL takes Simple from 224 KiB on, and so it measures (40 us, LL 51).
// Where NCCL's search failed it takes Simple everywhere, and beyond 160 KiB LL is not sure to win.
std::size_t largest_ll(const CostModelInputs& machine) {
  if (machine.ring.channel_bandwidth < absurd_bandwidth) return 160 << 10;
  return machine.ranks == 2 ? 223 << 10 : 256 << 10;
}

TEST_P(StockMachine, EverySmallSizeGetsLl) {
  const auto path = testing::stock_table_path(GetParam());
  const auto machine = testing::read_stock_inputs(path);
  PolicyInputs inputs = policy_inputs(machine.ranks);
  inputs.links = gen5_x16;

  for (const auto& row : testing::read_stock_table(path)) {
    if (row.bytes < 8 << 10 || row.bytes > largest_ll(machine)) continue;
    const auto verdict = verdict_of(inputs, row.costs, row.bytes);
    const auto used = verdict.choice ? verdict.choice : verdict.stock;
    EXPECT_EQ(used->protocol, Protocol::ll) << row.bytes << ": " << text_of(verdict.reason);
  }
}

INSTANTIATE_TEST_SUITE_P(Stock, StockMachine, ::testing::ValuesIn(testing::stock_machines));

}  // namespace
}  // namespace lanewise
