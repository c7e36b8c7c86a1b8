// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/decision/model_builders.hpp"
#include "support/stock_tables.hpp"
#include "support/test_files.hpp"
#include "tuner_host.hpp"

namespace lanewise::testing {
namespace {

template <typename Version>
class TunerChoice : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("LANEWISE_MACHINE"); }
  PluginFile plugin_;
};
using Versions = ::testing::Types<V2, V3, V4, V5, V6, V7>;
TYPED_TEST_SUITE(TunerChoice, Versions);

TYPED_TEST(TunerChoice, IsLowLatencyOnADualTurinWhereNcclPicksSimple) {
  const auto path = stock_table_path("turin2s_8gpu_direct");
  const auto machine = test_file("data/machines/turin2s_8gpu_direct.xml");
  ::setenv("LANEWISE_MACHINE", machine.c_str(), 1);
  Communicator<TypeParam> communicator(this->plugin_, 8, 1);
  // Beyond it LL's doubled bytes may weigh more than its latency saves; v2 does not see that NCCL
  // takes Simple.
  constexpr std::size_t largest = (TypeParam::version == 2 ? 64 : 160) << 10;
  std::size_t sizes = 0;
  for (const auto& row : read_stock_table(path)) {
    if (row.bytes < 8 << 10 || row.bytes > largest) continue;
    const auto reply = communicator.ask({.bytes = row.bytes}, row.costs);

    ASSERT_TRUE(pick(reply)) << row.bytes;
    EXPECT_EQ(*pick(reply) % 3, 0) << row.bytes;
    ++sizes;
  }
  EXPECT_GT(sizes, 5U);
}

TEST(TunerChoiceOfSharedGpus, IsTreeForTinySizesOnlyWhereRanksMayShareGpus) {
  constexpr std::size_t tiny = 2048;
  const Costs costs = cost_array(tiny, host_memory_machine());
  const auto ask = [&] {
    const PluginFile plugin;
    Communicator<V4> communicator(plugin, 8, 1);
    return pick(communicator.ask({.bytes = tiny}, costs));
  };
  const auto by_default = ask();
  ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  const auto where_shared = ask();
  ::unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");

  EXPECT_NE(by_default, 0);
  EXPECT_EQ(where_shared, 0);
}

}  // namespace
}  // namespace lanewise::testing
