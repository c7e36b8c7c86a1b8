// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What is compared: each arm is a way to run the same call, in ranks of one environment. Arms of
// equal environments share their ranks.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "candidate.hpp"
#include "program/app.hpp"
#include "ranks/start_ranks.hpp"

namespace lanewise::bench {

struct ArmPlan {
  std::string name;
  Environment variables;  // the rank_group's
  ControlMode arm = ControlMode::settings;
  // The choice forced at a size; none where the plugin decides or nothing was said for the size.
  std::function<std::optional<Choice>(std::size_t bytes)> forced;
};

// "stock" (no plugin), "noop" (plugin that touches nothing), "lanewise-no-profile", "lanewise"
// (with `profile`), "lanewise-env" (as `lanewise run` starts a server: in its best environment, or
// without a profile in the base environment), "noop-env" (plugin that touches nothing, in that
// one), "env:NAME=VALUE[,..]" (stock with variables), "conf:FILE" (NVIDIA's CSV), "ring/ll/2"
// (forced), "lanewise-direct" (the direct layer, at all sizes up to 256 KiB),
// "direct:LO:HI[:FORM]" (at these sizes, in this form). Throws Error for any other word.
[[nodiscard]] ArmPlan plan_arm(const std::string& name, const Machine& machine,
                               const std::string& profile);
// --profile, LANEWISE_PROFILE where it is not given; empty: none.
void add_profile_option(CLI::App& command, std::string& profile);
// Those named; where none is, the usual ones: `usual`, and lanewise if there is a profile for it.
[[nodiscard]] std::vector<ArmPlan> plan_arms(std::vector<std::string> names,
                                             const std::vector<std::string>& usual,
                                             const Machine& machine, const std::string& profile);

// Arms with their ranks started.
struct RunningArm {
  ArmPlan plan;
  RankGroup* rank_group = nullptr;
};
struct ArmSet {
  std::vector<std::unique_ptr<RankGroup>> groups;
  std::vector<RunningArm> arms;
};
[[nodiscard]] ArmSet start_arms(const std::vector<ArmPlan>& plans, const Machine& machine,
                                const RankOptions& options, DataType type, std::size_t max_bytes);

}  // namespace lanewise::bench
