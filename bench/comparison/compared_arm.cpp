// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "compared_arm.hpp"

#include <span>

namespace lanewise::bench {

std::optional<Estimate> ComparedArm::time() const {
  if (us.empty()) return std::nullopt;
  return estimate_median(us);
}

std::optional<Estimate> ComparedArm::ratio() const {
  if (ratios.empty()) return std::nullopt;
  return estimate_median(ratios);
}

Verdict ComparedArm::verdict() const {
  const auto estimate = ratio();
  if (!estimate) return Verdict::undecided;
  std::vector<double> medians = medians_elsewhere;
  const bool is_one = medians.empty();
  const std::size_t own = is_one ? ratios.size() : rounds_here;
  if (own > 0) medians.push_back(median(std::span(ratios).first(own)));
  // Both the rounds and, where there are several, the communicators must say so.
  const auto is_sure = [&](double limit, Verdict wanted) {
    return judge(*estimate, limit) == wanted && (is_one || judge_across(medians, limit) == wanted);
  };
  if (is_sure(gain_limit, Verdict::better)) return Verdict::better;
  if (is_sure(never_worse_limit, Verdict::worse)) return Verdict::worse;
  return Verdict::undecided;
}

ComparedArm stock_arm(RankGroup& rank_group) {
  return {.rank_group = &rank_group, .candidate = {.name = "stock", .arm = ControlMode::stock}};
}

ComparedArm choice_arm(RankGroup& rank_group, const Choice& choice) {
  return {.rank_group = &rank_group, .candidate = {.name = to_string(choice), .forced = choice}};
}

std::vector<ComparedArm> arms_at(std::size_t bytes, const ArmSet& arm_set) {
  std::vector<ComparedArm> arms;
  for (const RunningArm& arm : arm_set.arms) {
    Candidate candidate{
        .name = arm.plan.name, .arm = arm.plan.arm, .forced = arm.plan.forced(bytes)};
    if (candidate.forced) candidate.arm = ControlMode::settings;
    arms.push_back({.rank_group = arm.rank_group, .candidate = candidate});
  }
  return arms;
}

}  // namespace lanewise::bench
