// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "replay.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

using testing::gain_of;
using testing::least_ratio;
using testing::mean_gain;
using testing::Measurements;

// Ring on two to four channels gives 1.36, 1.37, 1.32, 1 and 1 over stock; the mean is 1.197.
constexpr double least_mean_gain_of_four = 1.15;
constexpr double least_mean_gain_of_eight = 1.3;

const std::map<std::string, Measurements>& all_measurements() {
  static const auto all =
      testing::read_measurements(testing::test_file("../bench/measurements/allreduce_h200x4.csv"));
  return all;
}

TEST(ReplayOnFourGpus, ModelShapedSizesGainWithAGpuForEachRank) {
  const std::string four = "2.30.7 4 ranks NCCL_P2P_DISABLE=1";
  for (const std::string environment : {"", " NCCL_MIN_NCHANNELS=16"})
    EXPECT_GE(mean_gain(all_measurements().at(four + environment)), least_mean_gain_of_four)
        << environment;
}

TEST(ReplayOnFourGpus, ModelShapedSizesGainWithTwoRanksAGpu) {
  const std::string eight = "2.30.7 8 ranks NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_P2P_DISABLE=1";

  EXPECT_GE(mean_gain(all_measurements().at(eight)), least_mean_gain_of_eight);
}

TEST(ReplayOnFourGpus, NoSizeIsSlowerThanStock) {
  for (const auto& [name, measurements] : all_measurements()) {
    const Policy policy(measurements.inputs);
    for (const auto& [bytes, us] : measurements.stock_us) {
      const auto gain = gain_of(measurements, policy, bytes);
      ASSERT_TRUE(gain) << name << ": " << bytes;
      EXPECT_GE(*gain, least_ratio) << name << ": " << bytes;
    }
  }
}

}  // namespace
}  // namespace lanewise
