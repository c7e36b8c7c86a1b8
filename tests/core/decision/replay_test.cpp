// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "replay.hpp"

#include <gtest/gtest.h>

#include "measured_excerpt.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

using testing::gain_of;
using testing::host_memory_machine;
using testing::least_ratio;
using testing::mean_gain;
using testing::Measurements;
using testing::policy_inputs;
using testing::view;

// The goal of the issue: geometric mean over the model-shaped sizes.
constexpr double least_mean_gain = 1.42;

Measurements excerpt() {
  Measurements measurements;
  measurements.inputs = policy_inputs();
  measurements.inputs.sharing = GpuSharing::shared;
  measurements.inputs.transport = Transport::host_memory;
  for (const auto& stock : testing::measured_stock) measurements.stock_us[stock.bytes] = stock.us;
  for (const auto& call : testing::measured_calls)
    measurements.us[{call.bytes, to_string(call.choice)}] = call.us;
  return measurements;
}

TEST(Replay, ModelShapedSizesGainOnTheExcerpt) { EXPECT_GE(mean_gain(excerpt()), least_mean_gain); }

TEST(Replay, NoSizeOfTheExcerptIsSlowerThanStock) {
  const Measurements measurements = excerpt();
  const Policy policy(measurements.inputs);
  for (const auto& [bytes, us] : measurements.stock_us) {
    const auto gain = gain_of(measurements, policy, bytes);
    ASSERT_TRUE(gain) << bytes;
    EXPECT_GE(*gain, least_ratio) << bytes;
  }
}

const std::filesystem::path& csv_path() {
  static const auto path = testing::test_file("data/allreduce_h200x2.csv");
  return path;
}

class MeasuredReplay : public ::testing::Test {
 protected:
  std::map<std::string, Measurements> all_ = testing::read_measurements(csv_path());
};

TEST_F(MeasuredReplay, ModelShapedSizesGainOnEightRanks) {
  const std::string eight = "2.30.7 8 ranks NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_P2P_DISABLE=1";
  for (const std::string environment :
       {"", " REPEAT=2", " NCCL_MIN_NCHANNELS=8", " NCCL_MIN_NCHANNELS=16"})
    EXPECT_GE(mean_gain(all_.at(eight + environment)), least_mean_gain) << environment;
}

TEST_F(MeasuredReplay, NoSizeOfAnyCommunicatorIsSlowerThanStock) {
  int measured = 0;
  for (const auto& [name, measurements] : all_) {
    const Policy policy(measurements.inputs);
    for (const auto& [bytes, us] : measurements.stock_us) {
      const auto gain = gain_of(measurements, policy, bytes);
      if (!gain) continue;
      ++measured;
      EXPECT_GE(*gain, least_ratio) << name << ": " << bytes;
    }
  }
  // Only three choices of 32 channels were not measured.
  EXPECT_GE(measured, 100);
}

TEST_F(MeasuredReplay, PricesOfTheMachineGiveStocksPick) {
  for (const auto& [name, measurements] : all_) {
    const int ranks = measurements.inputs.ranks;
    for (const auto& [bytes, us] : measurements.stock_us) {
      CostArray costs = cost_array(bytes, host_memory_machine(ranks));
      const auto picked = measurements.us.at({bytes, to_string(view(costs).stock_pick().value())});
      EXPECT_NEAR(picked / us, 1, 0.12) << name << ": " << bytes;
    }
  }
}

}  // namespace
}  // namespace lanewise
