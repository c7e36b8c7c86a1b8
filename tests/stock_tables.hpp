// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The price tables that NCCL made for known machines, from ../shared/fixtures/stock_tables.
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace lanewise::testing {

struct StockPrices {
  std::size_t bytes = 0;
  std::array<float, 21> prices{};  // [7][3], -1 where NCCL priced nothing
};

// The file's path, whether or not it is there.
[[nodiscard]] std::filesystem::path stock_table_path(const std::string& machine);
[[nodiscard]] std::vector<StockPrices> read_stock_table(const std::filesystem::path& path);

}  // namespace lanewise::testing
