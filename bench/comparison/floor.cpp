// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "floor.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

#include "sizes.hpp"

namespace lanewise::bench {
namespace {

constexpr const char* arm_name = "one-shot";

// Of no other size is it tried then.
void throw_failure(const ComparedArm& arm) {
  if (!arm.failure.empty()) throw RankFailure(arm.failure);
}

// The median of one size; nothing where it has none, with a remark where it should have one.
std::optional<double> time_at(std::size_t bytes, const ArmSet& arm_set, const TimingOptions& timing,
                              Floor& floor) {
  SizeComparison comparison(bytes, timing, arms_at(bytes, arm_set));
  comparison.prepare();
  const ComparedArm& one_shot = comparison.arms().front();
  throw_failure(one_shot);
  if (!one_shot.verification.fault.empty())
    floor.remarks.push_back("one-shot at " + show_size(bytes) +
                            " is wrong: " + one_shot.verification.fault);
  if (!one_shot.verification.refusal.empty() && floor.remarks.empty())
    floor.remarks.push_back("one-shot: not at " + show_size(bytes) + " and above");
  if (one_shot.is_out || !one_shot.verification.fault.empty()) return std::nullopt;
  comparison.run(never_worse_limit, std::chrono::steady_clock::time_point::max());
  throw_failure(one_shot);
  comparison.finish();
  const auto time = one_shot.time();
  return time ? std::optional(time->median) : std::nullopt;
}

void measure_all(const std::vector<std::size_t>& sizes, const ArmSet& arm_set,
                 const TimingOptions& timing, Floor& floor) {
  for (const std::size_t bytes : sizes)
    if (const auto us = time_at(bytes, arm_set, timing, floor)) floor.us.emplace(bytes, *us);
}

std::string formatted(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

Floor measure_floor(const std::vector<std::size_t>& sizes, const Machine& machine,
                    const RankOptions& ranks, DataType type, const TimingOptions& timing) {
  Floor floor;
  if (machine.kind == RankKind::joined) {
    floor.remarks.emplace_back(
        "no one-shot column: ranks of mpirun or torchrun serve one set of arms; --arm one-shot "
        "makes it one");
    return floor;
  }
  if (type == DataType::fp8) {
    floor.remarks.emplace_back("no one-shot column: it does not sum fp8");
    return floor;
  }
  try {
    const ArmSet arm_set =
        start_arms({plan_arm(arm_name, machine, {})}, machine, ranks, type, sizes.back());
    measure_all(sizes, arm_set, timing, floor);
    for (const auto& rank_group : arm_set.groups) rank_group->kill();
  } catch (const std::runtime_error& error) {
    floor.remarks.push_back("no one-shot column: " + std::string(error.what()));
  }
  return floor;
}

std::string show_floor_heading() { return "  one-shot: us ratio"; }

std::string show_floor(const Floor& floor, const SizeComparison& comparison) {
  const auto found = floor.us.find(comparison.bytes());
  if (found == floor.us.end()) return "         -      -";
  const auto first = comparison.arms().front().time();
  return formatted("  %8.2f", found->second) +
         (first ? formatted(" %6.3f", first->median / found->second) : "      -");
}

nlohmann::json describe(const Floor& floor) {
  nlohmann::json times = nlohmann::json::array();
  for (const auto& [bytes, us] : floor.us) times.push_back({{"bytes", bytes}, {"us", us}});
  nlohmann::json links;
  if (!times.empty()) links["one_shot"] = times;
  if (!floor.remarks.empty()) links["one_shot_remarks"] = floor.remarks;
  return links;
}

}  // namespace lanewise::bench
