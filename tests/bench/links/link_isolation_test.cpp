// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "core/error.hpp"
#include "fake_link_tester.hpp"
#include "links/isolated_tester.hpp"
#include "links/survey.hpp"

namespace lanewise::bench {
namespace {

constexpr IsolationLimits quick{std::chrono::milliseconds{500}, std::chrono::milliseconds{5'000},
                                std::chrono::milliseconds{0}};

IsolatedTester::Factory fake(std::function<std::optional<Reading>(const Probe&)> answer) {
  return [answer] {
    auto tester = std::make_unique<FakeLinkTester>();
    tester->answer = answer;
    return tester;
  };
}

std::optional<Reading> hang_on_gpu_3(const Probe& probe) {
  if (probe.method == Method::peer && touches(probe, 3)) ::pause();
  return std::nullopt;
}

const Probe latency_01{ProbeKind::latency, Method::peer, {{0, 1}}};
const Probe latency_03{ProbeKind::latency, Method::peer, {{0, 3}}};

TEST(Isolation, GivesTheAnswersOfTheTesterInside) {
  IsolatedTester tester(fake({}), quick);

  EXPECT_EQ(tester.describe(), FakeLinkTester().describe());
  EXPECT_EQ(tester.measure(latency_01), (Reading{{1.5}, std::nullopt}));
}

TEST(Isolation, NamesAHangWithinItsLimitAndGoesOn) {
  IsolatedTester tester(fake(hang_on_gpu_3), quick);
  ASSERT_FALSE(tester.measure(latency_01).error);

  const Reading hung = tester.measure(latency_03);

  EXPECT_EQ(hung.error, "no answer within 500 ms");
  EXPECT_FALSE(tester.measure(latency_01).error);
}

TEST(Isolation, SurveysAllPairsBesideAGpuThatHangs) {
  IsolatedTester tester(fake(hang_on_gpu_3), quick);
  const LinkMachine machine = tester.describe();
  SurveyPlan plan;
  plan.flows = all_flows(machine.size());

  const LinkReport report = survey(tester, machine, plan);

  for (const PairResult& pair : report.pairs) {
    const bool hangs = pair.method == Method::peer && (pair.flow.from == 3 || pair.flow.to == 3);
    EXPECT_EQ(pair.error.has_value(), hangs) << to_string(pair.flow);
  }
}

TEST(Isolation, NamesTheSignalThatEndedTheMeasurement) {
  IsolatedTester tester(fake([](const Probe&) -> std::optional<Reading> {
                          ::raise(SIGKILL);
                          return std::nullopt;
                        }),
                        quick);

  EXPECT_EQ(tester.measure(latency_01).error, "the measuring process was killed by signal 9");
}

TEST(Isolation, PassesOnWhatATesterThrows) {
  IsolatedTester tester(fake([](const Probe&) -> std::optional<Reading> {
                          throw std::runtime_error("cudaMalloc: out of memory");
                        }),
                        quick);

  EXPECT_EQ(tester.measure(latency_01).error, "cudaMalloc: out of memory");
}

TEST(Isolation, MeasuresAfterAFaultInAFreshProcess) {
  int probes = 0;
  IsolatedTester tester(fake([&probes](const Probe&) -> std::optional<Reading> {
                          if (++probes == 2) return Reading{{}, "a sticky CUDA error"};
                          return Reading{{static_cast<double>(probes)}, std::nullopt};
                        }),
                        quick);

  EXPECT_EQ(tester.measure(latency_01).values, std::vector<double>{1});
  EXPECT_TRUE(tester.measure(latency_01).error);
  EXPECT_EQ(tester.measure(latency_01).values, std::vector<double>{1});
}

TEST(Isolation, RefusesAMachineThatHasNothingToMeasure) {
  IsolatedTester tester([]() -> std::unique_ptr<LinkTester> { throw Error("no GPU is visible"); },
                        quick);

  try {
    static_cast<void>(tester.describe());
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no GPU is visible");
  }
}

}  // namespace
}  // namespace lanewise::bench
