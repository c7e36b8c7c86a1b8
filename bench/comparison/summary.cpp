// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "summary.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "sizes.hpp"

namespace lanewise::bench {

void add_faults(Summary& summary, const SizeComparison& comparison) {
  comparison.add_failures(summary.failures);
  for (const ComparedArm& arm : comparison.arms()) {
    if (arm.verification.fault.empty()) continue;
    summary.faults.push_back(arm.candidate.name + " at " + show_size(comparison.bytes()) + ": " +
                             arm.verification.fault);
  }
}

void add_to(Summary& summary, const SizeComparison& comparison) {
  add_faults(summary, comparison);
  for (const ComparedArm& arm : comparison.arms()) {
    const std::string& name = arm.candidate.name;
    const auto ratio = arm.ratio();
    if (!ratio) continue;
    summary.ratios[name].push_back(ratio->median);
    if (arm.verdict() == Verdict::worse) summary.slower.push_back({name, comparison.bytes()});
  }
}

std::vector<std::size_t> sizes_of(const std::vector<SlowArm>& slower) {
  std::set<std::size_t> sizes;
  for (const SlowArm& slow : slower) sizes.insert(slow.bytes);
  return {sizes.begin(), sizes.end()};
}

void keep_confirmed(std::vector<SlowArm>& slower, const SizeComparison& again) {
  std::erase_if(slower, [&](const SlowArm& slow) {
    if (slow.bytes != again.bytes()) return false;
    const auto arms = again.arms();
    return std::any_of(arms.begin(), arms.end(), [&](const ComparedArm& arm) {
      return arm.candidate.name == slow.arm && arm.ratio() && arm.verdict() != Verdict::worse;
    });
  });
}

void show_failures(const Failures& failures) {
  for (const auto& [name, evidence] : failures)
    std::printf("UNSAFE: %s: %s\n", name.c_str(), evidence.c_str());
}

void show_means(const Summary& summary, const ArmSet& arm_set) {
  std::printf("geometric mean of the ratio to %s:", arm_set.arms.front().plan.name.c_str());
  for (const auto& arm : arm_set.arms) {
    const auto found = summary.ratios.find(arm.plan.name);
    if (found == summary.ratios.end()) continue;
    std::printf("  %s %.3f", arm.plan.name.c_str(), geometric_mean(found->second));
  }
  std::printf("\n");
  std::fflush(stdout);
}

void show_findings(const Summary& summary) {
  for (const std::string& fault : summary.faults) std::printf("WRONG: %s\n", fault.c_str());
  show_failures(summary.failures);
  for (const SlowArm& slow : summary.slower) {
    std::printf("slower than stock: %s at %s\n", slow.arm.c_str(), show_size(slow.bytes).c_str());
  }
  std::fflush(stdout);
}

nlohmann::json describe(const Summary& summary) {
  nlohmann::json means = nlohmann::json::object();
  for (const auto& [name, ratios] : summary.ratios) means[name] = geometric_mean(ratios);
  return means;
}

}  // namespace lanewise::bench
