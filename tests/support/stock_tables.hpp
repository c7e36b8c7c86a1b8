// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The cost tables that NCCL made for known machines, from ../shared/fixtures/stock_tables.
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/nccl/cost_model.hpp"

namespace lanewise::testing {

struct StockCosts {
  std::size_t bytes = 0;
  std::array<float, 21> costs{};  // [7][3], -1 where NCCL priced nothing
};

// The file's path, whether or not it is there.
[[nodiscard]] std::filesystem::path stock_table_path(const std::string& machine);
[[nodiscard]] std::vector<StockCosts> read_stock_table(const std::filesystem::path& path);

// What NCCL knew of the machine when it made the table.
[[nodiscard]] CostModelInputs read_stock_inputs(const std::filesystem::path& path);

// The machines that have a table.
inline constexpr std::array stock_machines = {
    "amd1s_2gpu_direct",    "amd1s_4gpu_direct", "amd1s_8gpu_1switch",   "amd1s_8gpu_2switch",
    "intel1s_2gpu_x8",      "spr2s_8gpu_direct", "rome2s_8x4090_direct", "spr2s_8gpu_4switch",
    "turin2s_8gpu_2switch", "vm_flat_8gpu",      "turin2s_8gpu_direct"};

}  // namespace lanewise::testing
