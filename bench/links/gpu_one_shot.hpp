// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Checks and times the all-reduce of one_shot.hpp with all ranks in this process.
#include <chrono>
#include <vector>

#include "probe.hpp"

namespace lanewise::bench {

// us a call of one_shot_bytes each, bf16, from a graph of many calls; the median of several
// replays. Before, sums of all types are compared with the exact bits that they must have, alone
// and in calls that follow each other without a pause; after, those of the timed calls.
[[nodiscard]] Reading measure_one_shot(const std::vector<Flow>& ranks, Method method,
                                       std::chrono::nanoseconds wait);

}  // namespace lanewise::bench
