// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The floor under every ring and tree: the one-shot all-reduce at each size of a comparison. It is
// measured before the arms, in ranks of its own, so that it neither takes turns with them nor ends
// their run where it fails.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comparison.hpp"

namespace lanewise::bench {

struct Floor {
  std::map<std::size_t, double> us;  // median by payload; none where it was not run or was wrong
  std::vector<std::string> remarks;  // why one is missing, a line each
};

// Never throws for what ranks do: a rank that fails, hangs or sums wrongly becomes a remark.
[[nodiscard]] Floor measure_floor(const std::vector<std::size_t>& sizes, const Machine& machine,
                                  const RankOptions& ranks, DataType type,
                                  const TimingOptions& timing);

// Columns after those of table.hpp: its time, and how much longer the first arm takes.
[[nodiscard]] std::string show_floor_heading();
[[nodiscard]] std::string show_floor(const Floor& floor, const SizeComparison& comparison);
// For the "links" of result_schema.md; null where there is nothing to say.
[[nodiscard]] nlohmann::json describe(const Floor& floor);

}  // namespace lanewise::bench
