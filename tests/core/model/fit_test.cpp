// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/fit.hpp"

#include <gtest/gtest.h>

#include "core/decision/explanation.hpp"
#include "core/decision/model_builders.hpp"
#include "core/decision/replay.hpp"
#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr Communicator fitted_ranks{8, 4, {2, 30, 7}, {}, GpuSharing::shared};

// Of a machine whose LL is `slower` times as slow as the measured one's.
std::vector<MeasuredTime> times_of_machine(double slower) {
  std::vector<MeasuredTime> times;
  for (const auto algorithm : {Algorithm::tree, Algorithm::ring})
    for (const auto protocol : {Protocol::ll, Protocol::simple})
      for (const int channels : {1, 2, 3, 4})
        for (std::size_t bytes = 8192; bytes <= 1 << 20; bytes *= 2) {
          const Choice choice{algorithm, protocol, channels};
          const double factor = protocol == Protocol::ll ? slower : 1.0;
          times.push_back(
              {choice, bytes, fitted_ranks, factor * predicted_us(choice, bytes, fitted_ranks)});
        }
  return times;
}

TEST(Fit, PredictsTheTimesThatItWasMadeOf) {
  const auto times = times_of_machine(3);
  const MachineFit fit = fit_machine(times);
  EXPECT_EQ(fit.channels, 4);
  EXPECT_EQ(fit.smallest_bytes, 8192);
  EXPECT_EQ(fit.largest_bytes, 1 << 20);
  for (const auto& time : times) {
    const Launch launch = launch_of(time.choice, time.bytes, fitted_ranks);
    const double us = predict(terms_of(time.choice, fit.constants), time.choice, time.bytes, 8,
                              launch, fitted_machine)
                          .total_us();
    EXPECT_NEAR(us / time.us, 1, 0.01) << to_string(time.choice) << ' ' << time.bytes;
  }
}

TEST(Fit, RefusesTooFewTimes) {
  auto times = times_of_machine(1);
  std::erase_if(times, [](const MeasuredTime& time) {
    return time.choice.algorithm == Algorithm::tree && time.bytes > 8192;
  });
  EXPECT_THROW((void)fit_machine(times), Error);
  EXPECT_THROW((void)fit_machine({}), Error);
}

// Where LL is three times as slow as elsewhere, Simple wins at sizes where it does not elsewhere.
TEST(Fit, DecidesWithinItsSizesAlone) {
  PolicyInputs inputs = testing::policy_inputs();
  inputs.sharing = GpuSharing::shared;
  inputs.channels = 4;
  const Policy without(inputs);
  inputs.fit = fit_machine(times_of_machine(3));
  const Policy with(inputs);

  const auto chosen = testing::choose(with, 8, 65536);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->protocol, Protocol::simple);
  EXPECT_NE(testing::choose(without, 8, 65536), chosen);
  for (const std::size_t bytes : {2048, 4096, 2 << 20, 4 << 20})
    EXPECT_EQ(testing::choose(with, 8, bytes), testing::choose(without, 8, bytes)) << bytes;
}

// Stock's Ring/LL takes three times as long here, and explain knows.
TEST(Fit, IsWhatExplainShows) {
  PolicyInputs inputs = testing::policy_inputs();
  inputs.sharing = GpuSharing::shared;
  inputs.transport = Transport::host_memory;
  inputs.channels = 4;
  CostArray costs = cost_array(65536, testing::host_memory_machine());
  const auto stock_us = [&] {
    return explain(inputs, testing::all_reduce(65536), testing::view(costs), fitted_ranks)
        .stock->predicted_us.value();
  };
  const double without = stock_us();
  inputs.fit = fit_machine(times_of_machine(3));

  EXPECT_NEAR(stock_us() / without, 3, 0.05);
}

// Another limit on channels is another fitted_ranks.
TEST(Fit, HoldsForTheChannelsThatItWasMadeOf) {
  const GpuGroup group{.ranks = 8, .fit = MachineFit{.channels = 4}};
  PolicyInputs inputs;

  add_group(inputs, {.group = &group, .most_channels = 2});
  EXPECT_TRUE(inputs.profile);
  EXPECT_FALSE(inputs.fit);
  add_group(inputs, {.group = &group});
  EXPECT_EQ(inputs.fit, group.fit);
}

}  // namespace
}  // namespace lanewise
