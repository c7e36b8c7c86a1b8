// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/cost_table_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "support/stock_tables.hpp"

namespace lanewise::host {
namespace {

constexpr const char* two_sizes = R"({"topology":"box","nccl":"2.30.7","nRanks":8,"table":[
 {"bytes":1000,"us":{"Ring/LL":20.0,"Tree/LL":-1}},
 {"bytes":3000,"us":{"Ring/LL":40.0,"Tree/LL":30}}]})";

class CostTableText : public ::testing::Test {
 protected:
  CostTableFile read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_cost_table(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("costs_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
       ".json");
};

TEST_F(CostTableText, PricesLieOnAStraightLineBetweenTwoSizes) {
  const auto file = read(two_sizes);

  EXPECT_FLOAT_EQ(costs_at(file, 1000)[3], 20);
  EXPECT_FLOAT_EQ(costs_at(file, 2000)[3], 30);
  EXPECT_FLOAT_EQ(costs_at(file, 2000)[0], -1);
  EXPECT_FLOAT_EQ(costs_at(file, 3000)[0], 30);
}

TEST_F(CostTableText, RefusesASizeOutside) {
  const auto file = read(two_sizes);

  EXPECT_THROW(static_cast<void>(costs_at(file, 999)), Error);
  EXPECT_THROW(static_cast<void>(costs_at(file, 3001)), Error);
}

TEST_F(CostTableText, RefusesWhatIsNoTable) {
  for (
      const auto* text :
      {"", "{}", "[]", R"({"topology":"a","nccl":"2.x","nRanks":8,"table":[]})",
       R"({"topology":"a","nccl":"2.30.7","nRanks":1,"table":[{"bytes":1,"us":{}}]})",
       R"({"topology":"a","nccl":"2.30.7","nRanks":8,"table":[]})",
       R"({"topology":"a","nccl":"2.30.7","nRanks":8,"table":[{"bytes":1,"us":{"Ring2/LL":1}}]})",
       R"({"topology":"a","nccl":"2.30.7","nRanks":8,"table":[{"bytes":1,"us":{"Ring":1}}]})",
       R"({"topology":"a","nccl":"2.30.7","nRanks":8,"table":[{"bytes":2,"us":{}},{"bytes":1,"us":{}}]})"})
    EXPECT_THROW(static_cast<void>(read(text)), Error) << text;
}

TEST(CostTableFiles, ReadsTheTablesOfKnownMachines) {
  for (const auto* machine : lanewise::testing::stock_machines) {
    const auto path = lanewise::testing::stock_table_path(machine);
    const auto file = read_cost_table(path);
    EXPECT_EQ(file.machine, machine);
    EXPECT_EQ(file.rows.size(), 83U);
    EXPECT_TRUE(file.search_channels);
  }
}

}  // namespace
}  // namespace lanewise::host
