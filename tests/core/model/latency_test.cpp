// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/latency.hpp"

#include <gtest/gtest.h>

#include "core/decision/measured_excerpt.hpp"

namespace lanewise {
namespace {

// The fit is within 13 % of 95 % of its data; the farthest of this excerpt is 17 % off.
constexpr double tolerance = 0.18;

double predict(const Choice& choice, std::size_t bytes, int channels = 4) {
  return predicted_us(choice, bytes, {8, channels, {2, 30, 7}, {}, GpuSharing::shared});
}

TEST(Latency, IsNearWhatWasMeasured) {
  for (const auto& call : testing::measured_calls)
    EXPECT_NEAR(predict(call.choice, call.bytes) / call.us, 1, tolerance)
        << call.bytes << ' ' << to_string(call.choice);
}

TEST(Latency, SecondWaveOfRingCostsMoreThanAThird) {
  const Choice by_default{Algorithm::ring, Protocol::ll, 0};
  const Choice on_two{Algorithm::ring, Protocol::ll, 2};

  EXPECT_GT(predict(by_default, 14336) / predict(on_two, 14336), 1.33);
  EXPECT_GT(predict(by_default, 14336), predict(by_default, 32768));
}

TEST(Latency, GrowsWithTheMessage) {
  for (const auto algorithm : {Algorithm::tree, Algorithm::ring})
    for (const auto protocol : {Protocol::ll, Protocol::simple})
      for (std::size_t bytes = 1 << 20; bytes < 64 << 20; bytes *= 2)
        EXPECT_LT(predict({algorithm, protocol, 4}, bytes),
                  predict({algorithm, protocol, 4}, 2 * bytes));
}

}  // namespace
}  // namespace lanewise
