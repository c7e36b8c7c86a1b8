// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's prices of one machine, taken from a run with NCCL_DEBUG or written by our tools:
// {"topology","nccl","nRanks","sm","ring":{"channels"},"table":[{"bytes","us":{"Ring/LL":..}}]}.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/nccl/nccl_release.hpp"
#include "core/nccl/prices.hpp"

namespace lanewise::host {

struct PriceRow {
  std::size_t bytes = 0;
  PriceTable prices{};  // microseconds, -1 where NCCL priced nothing
};

struct PriceTableFile {
  std::string machine;
  NcclRelease nccl;
  int ranks = 0;
  std::optional<int> search_channels;  // before they are doubled
  std::vector<PriceRow> rows;          // by size, at least one
};

// Throws Error with file, line and what was expected.
[[nodiscard]] PriceTableFile read_price_table(const std::filesystem::path& path);

// Between two rows on the straight line that NCCL's prices are; a size outside throws Error.
[[nodiscard]] PriceTable prices_at(const PriceTableFile& file, std::size_t bytes);

}  // namespace lanewise::host
