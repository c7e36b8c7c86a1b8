// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "lanewise/control.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tuner_host.hpp"

namespace lanewise::testing {
namespace {

constexpr int ring = 1;
constexpr int ll = 0;
constexpr int ll128 = 1;
constexpr int simple = 2;
constexpr int ring_simple = ring * 3 + simple;

class Control : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("LANEWISE_MODE"); }

  [[nodiscard]] lanewise_answer_v1 last() const {
    lanewise_answer_v1 answer{};
    EXPECT_EQ(control_.last_answer(&answer), 0);
    return answer;
  }

  PluginFile plugin_;
  lanewise_control_v1_t& control_ = plugin_.symbol<lanewise_control_v1_t>("lanewise_control_v1");
};

TEST_F(Control, ForcesAChoiceOnEveryCommunicatorUntilItIsReleased) {
  Communicator<V6> communicator(plugin_, 8, 1);

  EXPECT_EQ(control_.force(ring, simple, 3), 0);
  const auto forced = communicator.ask({}, pcie_costs());
  control_.release();
  const auto released = communicator.ask({}, pcie_costs());

  EXPECT_EQ(pick(forced), ring_simple);
  EXPECT_EQ(forced.channels, 3);
  EXPECT_NE(pick(released), ring_simple);
}

TEST_F(Control, ForcesThroughV2AndAlsoWhereTheModeIsOff) {
  ::setenv("LANEWISE_MODE", "off", 1);
  Communicator<V2> communicator(plugin_, 8, 1);

  control_.force(ring, simple, 0);
  const auto forced = communicator.ask({}, pcie_costs());

  EXPECT_EQ(forced.algorithm, ring);
  EXPECT_EQ(forced.protocol, simple);
  EXPECT_EQ(forced.channels, 0);
}

TEST_F(Control, NeverForcesWhatNcclForbids) {
  Communicator<V6> communicator(plugin_, 8, 1);
  control_.watch();

  control_.force(ring, ll128, 2);
  const auto reply = communicator.ask({}, pcie_costs());

  EXPECT_TRUE(is_untouched(reply, pcie_costs()));
  EXPECT_EQ(last().source, LANEWISE_SOURCE_FORCED);
  EXPECT_EQ(last().is_applied, 0);
}

TEST_F(Control, LeavesSeveralNodesAndOtherCollectivesAloneEvenIfForced) {
  Communicator<V6> two_nodes(plugin_, 16, 2);
  Communicator<V6> one_node(plugin_, 8, 1);

  control_.force(ring, simple, 3);

  EXPECT_TRUE(is_untouched(two_nodes.ask({}, pcie_costs()), pcie_costs()));
  EXPECT_TRUE(is_untouched(one_node.ask({.function = 2}, pcie_costs()), pcie_costs()));
}

TEST_F(Control, RejectsWhatIsOutOfRange) {
  EXPECT_EQ(control_.force(-1, ll, 1), 1);
  EXPECT_EQ(control_.force(7, ll, 1), 1);
  EXPECT_EQ(control_.force(ring, 3, 1), 1);
  EXPECT_EQ(control_.force(ring, ll, -1), 1);
  EXPECT_EQ(control_.force(ring, ll, 65), 1);
  EXPECT_EQ(control_.set_arm(3), 1);
  EXPECT_EQ(control_.set_arm(-1), 1);
  EXPECT_EQ(control_.last_answer(nullptr), 1);
}

TEST_F(Control, NeverWritesMoreChannelsThanTheReleaseHas) {
  Communicator<V3> nccl_2_22(plugin_, 8, 1);

  control_.force(ring, simple, 33);

  EXPECT_TRUE(is_untouched(nccl_2_22.ask({}, pcie_costs()), pcie_costs()));
}

TEST_F(Control, TheStockAndObservingArmsWriteNothing) {
  Communicator<V6> communicator(plugin_, 8, 1);
  for (const int arm : {LANEWISE_ARM_STOCK, LANEWISE_ARM_OBSERVE}) {
    ASSERT_EQ(control_.set_arm(arm), 0);

    EXPECT_TRUE(is_untouched(communicator.ask({}, pcie_costs()), pcie_costs())) << arm;
  }
  control_.set_arm(LANEWISE_ARM_SETTINGS);
  EXPECT_FALSE(is_untouched(communicator.ask({}, pcie_costs()), pcie_costs()));
}

TEST_F(Control, ShowsTheLatestAnswer) {
  Communicator<V6> communicator(plugin_, 8, 1);
  control_.watch();

  const auto reply = communicator.ask({.bytes = 57344}, pcie_costs());

  EXPECT_EQ(last().calls, 1U);
  EXPECT_EQ(last().bytes, 57344U);
  EXPECT_EQ(last().collective, 4);
  EXPECT_EQ(last().algorithm * 3 + last().protocol, pick(reply));
  EXPECT_EQ(last().channels, reply.channels);
  EXPECT_EQ(last().source, LANEWISE_SOURCE_MODEL);
  EXPECT_EQ(last().is_applied, 1);
}

TEST_F(Control, ShowsNcclsOwnPickInTheStockArm) {
  Communicator<V6> communicator(plugin_, 8, 1);
  control_.watch();
  control_.set_arm(LANEWISE_ARM_STOCK);

  static_cast<void>(communicator.ask({}, pcie_costs()));

  EXPECT_EQ(last().algorithm, ring);
  EXPECT_EQ(last().protocol, ll);
  EXPECT_EQ(last().source, LANEWISE_SOURCE_NONE);
  EXPECT_EQ(last().is_applied, 0);
}

TEST_F(Control, HasNoAnswerBeforeACallIsWatched) {
  Communicator<V6> communicator(plugin_, 8, 1);
  static_cast<void>(communicator.ask({}, pcie_costs()));
  lanewise_answer_v1 answer{};

  EXPECT_EQ(control_.last_answer(&answer), 1);
  control_.watch();
  EXPECT_EQ(control_.last_answer(&answer), 1);
}

}  // namespace
}  // namespace lanewise::testing
