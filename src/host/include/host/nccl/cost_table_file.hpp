// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's costs of one machine, taken from a run with NCCL_DEBUG or written by our tools:
// {"topology","nccl","nRanks","sm","ring":{"channels"},"table":[{"bytes","us":{"Ring/LL":..}}]}.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/nccl/cost_model.hpp"
#include "core/nccl/nccl_release.hpp"

namespace lanewise::host {

struct CostRow {
  std::size_t bytes = 0;
  CostArray costs{};  // microseconds, -1 where NCCL priced nothing
};

struct CostTableFile {
  std::string machine;
  NcclRelease nccl;
  int ranks = 0;
  std::optional<int> search_channels;  // before they are doubled
  std::vector<CostRow> rows;           // by size, at least one
};

// Throws Error with file, line and what was expected.
[[nodiscard]] CostTableFile read_cost_table(const std::filesystem::path& path);

// Between two rows on the straight line that NCCL's costs are; a size outside throws Error.
[[nodiscard]] CostArray costs_at(const CostTableFile& file, std::size_t bytes);

}  // namespace lanewise::host
