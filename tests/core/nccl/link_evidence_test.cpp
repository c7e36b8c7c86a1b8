// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/link_evidence.hpp"

#include <gtest/gtest.h>

#include <array>

#include "core/decision/model_builders.hpp"
#include "core/nccl/cost_model.hpp"

namespace lanewise {
namespace {

LinkEvidence evidence_of(CostModelInputs inputs, std::size_t bytes) {
  inputs.release = {2, 30, 7};
  CostArray costs = cost_array(bytes, inputs);
  return link_evidence(CostTable(costs.data(), 7, 3), bytes, inputs.ranks, 1);
}

CostModelInputs machine(LinkKind link, int ranks, double bandwidth) {
  CostModelInputs inputs;
  inputs.ranks = ranks;
  inputs.compute_capability = 90;
  inputs.link = link;
  inputs.ring = inputs.tree = {2, bandwidth / 2};
  return inputs;
}

// From Gen3 x4 to two Gen6 x16, and from one NVLink bridge to a switch.
constexpr std::array pcie_bandwidths = {0.1, 3.0, 12.0, 48.0, 192.0};
constexpr std::array nvlink_bandwidths = {12.0, 48.0, 370.0, 720.0};

TEST(LinkEvidence, TellsPcieFromNvlinkAtEverySize) {
  for (const int ranks : {2, 4, 8, 16})
    for (std::size_t bytes = 256; bytes <= 4 << 20; bytes *= 2) {
      for (const double bandwidth : pcie_bandwidths)
        EXPECT_EQ(evidence_of(machine(LinkKind::pcie, ranks, bandwidth), bytes).kind,
                  LinkKind::pcie)
            << ranks << " ranks, " << bandwidth << " GB/s, " << bytes;
      for (const double bandwidth : nvlink_bandwidths)
        EXPECT_EQ(evidence_of(machine(LinkKind::nvlink, ranks, bandwidth), bytes).kind,
                  LinkKind::nvlink)
            << ranks << " ranks, " << bandwidth << " GB/s, " << bytes;
    }
}

TEST(LinkEvidence, GivesBackTheBandwidth) {
  const auto evidence = evidence_of(machine(LinkKind::pcie, 8, 48), 1 << 20);

  ASSERT_TRUE(evidence.bus_bandwidth);
  EXPECT_NEAR(*evidence.bus_bandwidth, 48, 0.1);
  EXPECT_FALSE(is_absurd(evidence));
}

TEST(LinkEvidence, KnowsTheAbsurdTableOfAFailedSearch) {
  for (std::size_t bytes = 1024; bytes <= 4 << 20; bytes *= 2)
    EXPECT_TRUE(is_absurd(evidence_of(machine(LinkKind::pcie, 8, 0.1), bytes))) << bytes;
}

TEST(LinkEvidence, KnowsTheGuardOfFp8OnMoreThanEightRanks) {
  for (const int ranks : {9, 10, 12, 16})
    for (const double bandwidth : pcie_bandwidths)
      for (std::size_t bytes = 1024; bytes <= 4 << 20; bytes *= 2) {
        CostArray costs = cost_array(bytes, machine(LinkKind::pcie, ranks, bandwidth));
        const CostTable table(costs.data(), 7, 3);
        EXPECT_FALSE(is_ring_guarded(table, ranks, 1)) << ranks << ' ' << bandwidth << ' ' << bytes;

        testing::guard_ring(costs);
        EXPECT_TRUE(is_ring_guarded(table, ranks, 1)) << ranks << ' ' << bandwidth << ' ' << bytes;
        EXPECT_EQ(link_evidence(table, bytes, ranks, 1).kind, LinkKind::pcie);

        costs[5] = -1024.0F;  // NCCL_PROTO=LL: Tree tells
        EXPECT_TRUE(is_ring_guarded(table, ranks, 1)) << ranks << ' ' << bandwidth << ' ' << bytes;
      }
}

TEST(LinkEvidence, KnowsNoGuardOnEightRanks) {
  CostArray costs = cost_array(14336, machine(LinkKind::pcie, 8, 48));
  testing::guard_ring(costs);

  EXPECT_FALSE(is_ring_guarded(CostTable(costs.data(), 7, 3), 8, 1));
}

TEST(LinkEvidence, IsUnknownWhereTheUserTookAProtocolAway) {
  CostArray costs = cost_array(14336, machine(LinkKind::pcie, 8, 48));
  costs[5] = -1.0F;

  EXPECT_EQ(link_evidence(CostTable(costs.data(), 7, 3), 14336, 8, 1).kind, LinkKind::unknown);
  EXPECT_EQ(link_evidence(CostTable(), 14336, 8, 1).kind, LinkKind::unknown);
}

}  // namespace
}  // namespace lanewise
