// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "summary.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "sizes.hpp"

namespace lanewise::bench {

void add_faults(Summary& summary, const Contest& contest) {
  for (const Contender& contender : contest.contenders()) {
    if (contender.verification.fault.empty()) continue;
    summary.faults.push_back(contender.candidate.name + " at " + show_size(contest.bytes()) + ": " +
                             contender.verification.fault);
  }
}

void add_to(Summary& summary, const Contest& contest) {
  add_faults(summary, contest);
  for (const Contender& contender : contest.contenders()) {
    const std::string& arm = contender.candidate.name;
    const auto ratio = contender.ratio();
    if (!ratio) continue;
    summary.ratios[arm].push_back(ratio->median);
    if (contender.verdict() == Verdict::worse) summary.slower.push_back({arm, contest.bytes()});
  }
}

std::vector<std::size_t> sizes_of(const std::vector<SlowArm>& slower) {
  std::set<std::size_t> sizes;
  for (const SlowArm& slow : slower) sizes.insert(slow.bytes);
  return {sizes.begin(), sizes.end()};
}

void keep_confirmed(std::vector<SlowArm>& slower, const Contest& again) {
  std::erase_if(slower, [&](const SlowArm& slow) {
    if (slow.bytes != again.bytes()) return false;
    const auto contenders = again.contenders();
    return std::any_of(contenders.begin(), contenders.end(), [&](const Contender& contender) {
      return contender.candidate.name == slow.arm && contender.ratio() &&
             contender.verdict() != Verdict::worse;
    });
  });
}

void show_means(const Summary& summary, const Field& field) {
  std::printf("geometric mean of the ratio to %s:", field.arms.front().plan.name.c_str());
  for (const auto& arm : field.arms) {
    const auto found = summary.ratios.find(arm.plan.name);
    if (found == summary.ratios.end()) continue;
    std::printf("  %s %.3f", arm.plan.name.c_str(), geometric_mean(found->second));
  }
  std::printf("\n");
  std::fflush(stdout);
}

void show_findings(const Summary& summary) {
  for (const std::string& fault : summary.faults) std::printf("WRONG: %s\n", fault.c_str());
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
