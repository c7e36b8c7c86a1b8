// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/cost_model.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "host/machine/topology_source.hpp"
#include "support/stock_tables.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

class StockMachine : public ::testing::TestWithParam<const char*> {
 protected:
  const std::filesystem::path table_ = testing::stock_table_path(GetParam());
};

TEST_P(StockMachine, PricesAreNcclsWithinAThousandth) {
  const CostModelInputs inputs = testing::read_stock_inputs(table_);

  for (const auto& row : testing::read_stock_table(table_)) {
    const CostArray our_cost = cost_array(row.bytes, inputs);
    for (std::size_t i = 0; i < our_cost.size(); ++i)
      EXPECT_NEAR(our_cost[i], row.costs[i], 0.001 * std::abs(row.costs[i]) + 0.001)
          << row.bytes << " bytes, entry " << i;
  }
}

TEST_P(StockMachine, SearchIsEstimatedFromTheTopology) {
  const auto xml = testing::test_file("data/machines/" + std::string(GetParam()) + ".xml");
  const CostModelInputs inputs = testing::read_stock_inputs(table_);

  const auto found = estimate_search(host::read_topology(xml), inputs.compute_capability);

  EXPECT_EQ(found, inputs.ring) << found.channels << " x " << found.channel_bandwidth;
}

INSTANTIATE_TEST_SUITE_P(Costs, StockMachine, ::testing::ValuesIn(testing::stock_machines));

TEST(CostModel, Ll128IsPricedOnlyWhereItIsAllowed) {
  CostModelInputs inputs{8, 120, {2, 30, 7}, LinkKind::pcie, {2, 24}, {2, 24}};
  EXPECT_FALSE(cost_us(Algorithm::ring, Protocol::ll128, 65536, inputs));

  inputs.ll128 = Ll128Pricing::priced;
  EXPECT_TRUE(cost_us(Algorithm::ring, Protocol::ll128, 65536, inputs));
}

TEST(CostModel, EstimateOfAnUnknownMachineIsAGen5Slot) {
  EXPECT_EQ(estimate_search(Topology{}, 120), (SearchedGraph{2, 24.0}));
}

}  // namespace
}  // namespace lanewise
