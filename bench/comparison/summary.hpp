// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What the sizes of a comparison say together: means, wrong sums, and where an arm is slower.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arms.hpp"
#include "comparison.hpp"

namespace lanewise::bench {

// One arm at one size; also held again in fresh communicators where a first look found it.
struct SlowArm {
  std::string arm;
  std::size_t bytes = 0;
};

struct Summary {
  std::map<std::string, std::vector<double>> ratios;  // by arm
  std::vector<std::string> faults;                    // wrong sums, in words
  Failures failures;                                  // arms in which ranks hung or died
  std::vector<SlowArm> slower;                        // for sure below never_worse_limit
};

void add_to(Summary& summary, const SizeComparison& comparison);
void add_faults(Summary& summary, const SizeComparison& comparison);  // alone
// Each payload of `slower` once, ascending.
[[nodiscard]] std::vector<std::size_t> sizes_of(const std::vector<SlowArm>& slower);
// Leaves those that are slower in this comparison of the same arms, too, that could not be timed in
// it, or that are not in it.
void keep_confirmed(std::vector<SlowArm>& slower, const SizeComparison& again);

// A line each.
void show_failures(const Failures& failures);
void show_means(const Summary& summary, const ArmSet& arm_set);
// Wrong sums, and what is slower than the first arm.
void show_findings(const Summary& summary);
[[nodiscard]] nlohmann::json describe(const Summary& summary);

}  // namespace lanewise::bench
