// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "fake_link_tester.hpp"
#include "links/arrival.hpp"
#include "links/survey.hpp"

namespace lanewise::bench {
namespace {

LinkReport survey_all(FakeLinkTester& tester) {
  const LinkMachine machine = tester.describe();
  SurveyPlan plan;
  plan.flows = all_flows(machine.size());
  plan.scenarios = pairwise_scenarios(machine.size());
  return survey(tester, machine, plan);
}

// Memory of two GPUs: `keeps` what is written, or only says so.
class FakeFlows final : public FlowBackend {
 public:
  enum class Memory { keeps, pretends, stalls };
  explicit FakeFlows(Memory memory) : memory_(memory) {}

  void prepare(const Probe&) override { destination_.assign(source_.size(), 0xa5); }
  std::vector<Moved> move() override {
    if (memory_ == Memory::keeps) destination_ = source_;
    return {{source_.size(), 2, memory_ == Memory::stalls}};
  }
  Arrival inspect(std::size_t) override {
    Arrival arrival{source_.size(), 0, 0};
    for (std::size_t i = 0; i < source_.size(); ++i) {
      if (destination_[i] == source_[i]) continue;
      ++arrival.wrong;
      arrival.first_wrong = i;
    }
    return arrival;
  }

 private:
  Memory memory_;
  std::vector<std::uint8_t> source_ = std::vector<std::uint8_t>(100, 7);
  std::vector<std::uint8_t> destination_;
};

const Probe one_flow{ProbeKind::bandwidth, Method::peer, {{0, 1}}};

TEST(Survey, MeasuresEachDirectionByBothMethods) {
  FakeLinkTester tester;

  const LinkReport report = survey_all(tester);

  const PairResult* pair = report.find({2, 1}, Method::peer);
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->latency_us, 1.5);
  EXPECT_EQ(pair->store_us, 1.5);
  EXPECT_EQ(pair->one_way_gbs, 50.0);
  EXPECT_EQ(pair->both_ways_gbs, 100.0);
  EXPECT_NE(report.find({1, 2}, Method::host), nullptr);
  EXPECT_EQ(report.all_pairs_gbs, 12 * 50.0);
  EXPECT_FALSE(report.has_errors());
}

TEST(Survey, MeasuresAGpuWithItselfThroughHostMemoryOnlyAndWithoutBandwidth) {
  FakeLinkTester tester;

  const LinkReport report = survey_all(tester);

  const PairResult* own = report.find({3, 3}, Method::host);
  ASSERT_NE(own, nullptr);
  EXPECT_TRUE(own->latency_us);
  EXPECT_FALSE(own->one_way_gbs);
  EXPECT_EQ(report.find({3, 3}, Method::peer), nullptr);
}

TEST(Survey, NamesThePairThatFailsAndGoesOn) {
  FakeLinkTester tester;
  tester.answer = [](const Probe& probe) -> std::optional<Reading> {
    if (probe.method == Method::peer && touches(probe, 3)) {
      return Reading{{}, "no answer within 10000 ms"};
    }
    return std::nullopt;
  };

  const LinkReport report = survey_all(tester);

  EXPECT_EQ(report.find({0, 3}, Method::peer)->error, "latency: no answer within 10000 ms");
  EXPECT_FALSE(report.find({0, 3}, Method::host)->error);
  EXPECT_EQ(report.find({1, 2}, Method::peer)->both_ways_gbs, 100.0);
  EXPECT_TRUE(report.has_errors());
}

TEST(Survey, AsksAFaultyPairNothingMore) {
  FakeLinkTester tester;
  const auto is_bad = [](const Probe& probe) {
    return probe.method == Method::peer &&
           std::count(probe.flows.begin(), probe.flows.end(), Flow{0, 3}) > 0;
  };
  tester.answer = [&](const Probe& probe) -> std::optional<Reading> {
    return is_bad(probe) ? std::optional(Reading{{}, "hangs"}) : std::nullopt;
  };

  const LinkReport report = survey_all(tester);

  EXPECT_EQ(std::count_if(tester.asked.begin(), tester.asked.end(), is_bad), 1);
  EXPECT_EQ(report.all_pairs_gbs, 11 * 50.0);
}

TEST(Survey, LeavesOutPeerAccessWhereOneDirectionLacksIt) {
  FakeLinkTester tester;
  LinkMachine machine = tester.describe();
  machine.peer_access[1][0] = false;
  SurveyPlan plan;
  plan.flows = all_flows(machine.size());

  const LinkReport report = survey(tester, machine, plan);

  EXPECT_EQ(report.find({0, 1}, Method::peer), nullptr);
  EXPECT_NE(report.find({0, 1}, Method::host), nullptr);
  EXPECT_NE(report.find({0, 2}, Method::peer), nullptr);
}

TEST(Survey, SaysThatOneGpuHasNoPairs) {
  FakeLinkTester tester;
  tester.gpus = 1;

  const LinkReport report = survey_all(tester);

  ASSERT_EQ(report.pairs.size(), 1U);
  EXPECT_EQ(report.pairs.front().method, Method::host);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes.front().find("one GPU"), std::string::npos);
}

TEST(Survey, ComparesAScenarioWithItsFlowsAlone) {
  FakeLinkTester tester;
  tester.answer = [](const Probe& probe) -> std::optional<Reading> {
    if (probe.flows == std::vector<Flow>{{0, 2}, {1, 3}}) return Reading{{1.0, 1.5}, std::nullopt};
    return std::nullopt;
  };

  const LinkReport report = survey_all(tester);

  ASSERT_EQ(report.contention.size(), 6U);
  EXPECT_EQ(report.contention.front().alone_gbs, (std::vector<double>{50.0, 50.0}));
  EXPECT_EQ(report.contention.front().share(), 0.025);
}

TEST(Survey, TakesAnAnswerOfTheWrongLengthForAFault) {
  FakeLinkTester tester;
  tester.answer = [](const Probe&) { return Reading{{}, std::nullopt}; };

  const LinkReport report = survey_all(tester);

  EXPECT_TRUE(report.find({0, 1}, Method::peer)->error);
}

TEST(Arrival, GivesTheBandwidthOfDataThatArrived) {
  FakeFlows flows(FakeFlows::Memory::keeps);

  EXPECT_EQ(measure_bandwidth(flows, one_flow), (Reading{{50.0}, std::nullopt}));
}

TEST(Arrival, NamesAFlowWhoseDestinationIsUnmodifiedThoughTheCopySucceeded) {
  FakeFlows flows(FakeFlows::Memory::pretends);

  const Reading reading = measure_bandwidth(flows, one_flow);

  ASSERT_TRUE(reading.error);
  EXPECT_NE(reading.error->find("0>1 100 of 100 words did not arrive"), std::string::npos);
}

TEST(Arrival, NamesAFlowThatStalledEvenIfItsDataIsThere) {
  FakeFlows flows(FakeFlows::Memory::stalls);

  EXPECT_TRUE(measure_bandwidth(flows, one_flow).error);
}

TEST(Pairs, AreReadInBothDirections) {
  EXPECT_EQ(parse_pairs("0-1,2-2", 4), (std::vector<Flow>{{0, 1}, {1, 0}, {2, 2}}));
  EXPECT_EQ(parse_pairs("all", 2).size(), 4U);
}

TEST(Pairs, RefuseOtherTextAndGpusThatAreNotThere) {
  for (const char* text : {"", "0", "0-", "a-b", "0-4", "0--1", "0-1-2", " 0-1"}) {
    EXPECT_THROW(static_cast<void>(parse_pairs(text, 4)), Error) << text;
  }
}

}  // namespace
}  // namespace lanewise::bench
