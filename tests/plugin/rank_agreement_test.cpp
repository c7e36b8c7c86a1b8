// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rank_agreement.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "core/error.hpp"

namespace lanewise::plugin {
namespace {

Inputs inputs_of_eight() {
  Inputs inputs;
  inputs.policy.ranks = 8;
  inputs.policy.release = {2, 30, 7};
  inputs.environment = {{"NCCL_P2P_LEVEL", "SYS"}, {"NCCL_DEBUG", "INFO"}};
  inputs.profile.emplace();
  inputs.profile->fingerprint = "0123456789abcdef";
  inputs.profile->created = "2026-11-29T18:00:00Z";
  return inputs;
}

std::uint64_t digest_after(const std::function<void(Inputs&)>& change,
                           host::Mode mode = host::Mode::apply) {
  Inputs inputs = inputs_of_eight();
  change(inputs);
  return digest_of(inputs, mode);
}

TEST(RankAgreement, IsRefusedToMoreRanksThanTheWordCounts) {
  using namespace std::chrono_literals;
  RankAgreement rank_agreement({.ranks = std::size_t{1} << 14, .nodes = 1, .communicator = 0x1d});

  EXPECT_TRUE(rank_agreement.is_possible());
  EXPECT_THROW((void)rank_agreement.gather(1ms, 7), Error);
}

TEST(ConsentDigest, DiffersWithModeReleaseEnvironmentAndProfile) {
  const auto same = digest_after([](Inputs&) {});

  EXPECT_NE(digest_after([](Inputs&) {}, host::Mode::observe), same);
  EXPECT_NE(digest_after([](Inputs& inputs) { inputs.policy.release.patch = 8; }), same);
  EXPECT_NE(digest_after([](Inputs& inputs) { inputs.environment["NCCL_P2P_LEVEL"] = "PHB"; }),
            same);
  EXPECT_NE(digest_after([](Inputs& inputs) { inputs.environment["NCCL_ALGO"] = "Ring"; }), same);
  EXPECT_NE(digest_after([](Inputs& inputs) { inputs.profile.reset(); }), same);
  EXPECT_NE(digest_after([](Inputs& inputs) { inputs.profile->driver = "580.65"; }), same);
}

TEST(ConsentDigest, IsTheSameForWhatChangesNoPrice) {
  EXPECT_EQ(digest_after([](Inputs& inputs) { inputs.environment["NCCL_DEBUG"] = "WARN"; }),
            digest_after([](Inputs&) {}));
}

std::uint64_t plan_after(const std::function<void(PolicyInputs&)>& change) {
  PolicyInputs inputs;
  inputs.ranks = 8;
  inputs.release = {2, 30, 7};
  inputs.profile = MeasuredGroup{
      RuleSet({Rule{{8192, 16384}, {Algorithm::ring, Protocol::ll, 2}}}), {}, LinkKind::pcie};
  change(inputs);
  return plan_of(inputs);
}

void set_rule(PolicyInputs& inputs, const Rule& rule) { inputs.profile->rules = RuleSet({rule}); }

TEST(ConsentPlan, DiffersWithEveryInputOfAPolicy) {
  const auto same = plan_after([](PolicyInputs&) {});
  const std::array<std::function<void(PolicyInputs&)>, 22> changes = {
      [](PolicyInputs& inputs) { inputs.ranks = 4; },
      [](PolicyInputs& inputs) { inputs.release.minor = 29; },
      [](PolicyInputs& inputs) { inputs.costs = CostTableAccess::without_table; },
      [](PolicyInputs& inputs) { inputs.user_filter = UserFilter::set; },
      [](PolicyInputs& inputs) { inputs.nvlink = NvlinkKnowledge::impossible; },
      [](PolicyInputs& inputs) { inputs.switches = SwitchKnowledge::collapsing; },
      [](PolicyInputs& inputs) { inputs.models = GpuModels::differ; },
      [](PolicyInputs& inputs) { inputs.sharing = GpuSharing::shared; },
      [](PolicyInputs& inputs) { inputs.transport = Transport::peer; },
      [](PolicyInputs& inputs) { inputs.links.low = 3.94; },
      [](PolicyInputs& inputs) { inputs.links.high = 3.94; },
      [](PolicyInputs& inputs) { inputs.channels = 4; },
      [](PolicyInputs& inputs) { inputs.fit = MachineFit{}; },
      [](PolicyInputs& inputs) { inputs.fit = {.constants = {.ring_simple = {.kib_us = 1}}}; },
      [](PolicyInputs& inputs) { inputs.limits.max_ctas = 4; },
      [](PolicyInputs& inputs) { inputs.limits.thread_thresholds[0][0] = 8; },
      [](PolicyInputs& inputs) { inputs.profile->ll128 = Ll128Evidence::soaked; },
      [](PolicyInputs& inputs) { inputs.profile->link = LinkKind::nvlink; },
      [](PolicyInputs& inputs) {
        set_rule(inputs, {{8192, 16383}, {Algorithm::ring, Protocol::ll, 2}});
      },
      [](PolicyInputs& inputs) {
        set_rule(inputs, {{8192, 16384}, {Algorithm::tree, Protocol::ll, 2}});
      },
      [](PolicyInputs& inputs) {
        const auto rules = inputs.profile->rules.rules();
        inputs.profile->rules = RuleSet({rules.begin(), rules.end()}, {65536});
      },
      [](PolicyInputs& inputs) { inputs.profile.reset(); }};

  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_NE(plan_after(changes[i]), same) << i;
}

}  // namespace
}  // namespace lanewise::plugin
