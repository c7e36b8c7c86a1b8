// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/machine_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/latency.hpp"

namespace lanewise {
namespace {

constexpr LinkRates gen3_x4 = {3.94, 3.94};

std::vector<MachineModel> machines_of(const LinkRates& links, Transport transport,
                                      std::optional<double> nccl_rate = {}) {
  const PlausibleMachines plausible(links, transport, nccl_rate);
  return {plausible.machines().begin(), plausible.machines().end()};
}

TEST(PlausibleMachines, HaveBothTransportsWhereNobodyTells) {
  const auto has = [](const std::vector<MachineModel>& machines, Transport transport) {
    return std::ranges::any_of(
        machines, [&](const MachineModel& machine) { return machine.transport == transport; });
  };

  EXPECT_TRUE(has(machines_of(gen3_x4, Transport::unknown), Transport::peer));
  EXPECT_TRUE(has(machines_of(gen3_x4, Transport::unknown), Transport::host_memory));
  EXPECT_FALSE(has(machines_of(gen3_x4, Transport::host_memory), Transport::peer));
}

TEST(PlausibleMachines, AreNoFasterThanTheirLinks) {
  for (const auto& machine : machines_of(gen3_x4, Transport::unknown, 48.0)) {
    EXPECT_EQ(machine.link_rate, gen3_x4.high);
    EXPECT_LE(machine.moving_rate, machine.link_rate);
  }
}

TEST(PlausibleMachines, ReckonWithNcclsRateWhereTheLinksAreNotKnown) {
  const auto slowest = [](std::optional<double> nccl_rate) {
    double rate = 1000;
    for (const auto& machine : machines_of({}, Transport::unknown, nccl_rate))
      rate = std::min(rate, machine.moving_rate);
    return rate;
  };

  EXPECT_GT(slowest(48.0), slowest(12.0));
  EXPECT_LT(slowest(std::nullopt), slowest(12.0));
}

// 1.5 x bytes x 2 over 3.94 GB/s, and the same without LL's flags.
TEST(Prediction, IsNeverBelowTheWireTime) {
  EXPECT_NEAR(least_wire_us({Algorithm::ring, Protocol::ll}, 131072, 4, 3.94), 99.8, 0.1);
  EXPECT_NEAR(least_wire_us({Algorithm::ring, Protocol::simple}, 131072, 4, 3.94), 49.9, 0.1);
  EXPECT_NEAR(least_wire_us({Algorithm::ring, Protocol::ll128}, 131072, 4, 3.94), 53.2, 0.1);

  for (const auto algorithm : {Algorithm::ring, Algorithm::tree})
    for (const auto protocol : {Protocol::ll, Protocol::simple})
      for (const int ranks : {2, 4, 8, 16})
        for (const double rate : {0.25, 3.94, 63.0, 121.0})
          for (std::size_t bytes = 1024; bytes <= 64 << 20; bytes *= 4) {
            const Choice choice{algorithm, protocol, 4};
            const auto prediction =
                predict(choice, bytes, {ranks, 4, {2, 30, 7}, {}}, {Transport::peer, rate, rate});
            EXPECT_GE(prediction.total_us(), least_wire_us(choice, bytes, ranks, rate));
            EXPECT_GE(prediction.contention_us, 0);
          }
}

// mining8: 8 GPUs on Gen3 x1. LL's wire time of 256 KiB alone is 930 us.
TEST(Prediction, KnowsRisers) {
  const MachineModel riser{Transport::host_memory, 0.985, 0.985};
  const Communicator communicator{8, 2, {2, 30, 7}, {}};

  const auto ll = predict({Algorithm::ring, Protocol::ll}, 262144, communicator, riser);
  EXPECT_NEAR(ll.wire_us, 931, 2);
  EXPECT_GT(ll.total_us(), 931);
}

}  // namespace
}  // namespace lanewise
