// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a person reads: one line a size, one column an arm.
#include <span>
#include <string>

#include "comparison/comparison.hpp"

namespace lanewise::bench {

// "ring/ll/2", "ring/ll" where the channels are NCCL's, "-" where nobody knows.
[[nodiscard]] std::string show_choice(const ComparedArm& arm);
// The candidate's name, with the channels that NCCL really launched where those are others.
[[nodiscard]] std::string show_candidate(const ComparedArm& arm);
// Columns for a line of show_line.
[[nodiscard]] std::string show_heading(std::span<const RunningArm> arms);
[[nodiscard]] std::string show_line(const SizeComparison& comparison);
// On stderr.
void show_warnings(std::span<const std::string> warnings);
// "+01:23" of time left, for progress on stderr; rewritten in place on a terminal.
void show_progress(std::size_t done, std::size_t all, double elapsed_s);

}  // namespace lanewise::bench
