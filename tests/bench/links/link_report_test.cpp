// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "links/link_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "fake_link_tester.hpp"

namespace lanewise::bench {
namespace {

LinkReport two_gpus() {
  FakeLinkTester tester;
  tester.gpus = 2;
  LinkReport report;
  report.machine = tester.describe();
  PairResult good;
  good.flow = {0, 1};
  good.latency_us = 1.25;
  good.store_us = 1.5;
  good.one_way_gbs = 55.25;
  good.both_ways_gbs = 98;
  good.path = "PHB";
  PairResult bad;
  bad.flow = {1, 0};
  bad.method = Method::host;
  bad.error = "latency: no answer within 10000 ms";
  report.pairs = {good, bad};
  report.all_pairs_gbs = 210;
  return report;
}

TEST(LinkReport, WritesTheSchemasPairs) {
  const auto links = nlohmann::json::parse(to_json(two_gpus()));

  const nlohmann::json good = {
      {"from", 0},          {"to", 1},         {"path", "PHB"},        {"method", "peer"},
      {"latency_us", 1.25}, {"store_us", 1.5}, {"one_way_gbs", 55.25}, {"both_ways_gbs", 98.0},
      {"verified", true},   {"error", nullptr}};
  EXPECT_EQ(links.at("pairs").at(0), good);
  EXPECT_EQ(links.at("pairs").at(1).at("latency_us"), nullptr);
  EXPECT_EQ(links.at("pairs").at(1).at("verified"), false);
  EXPECT_EQ(links.at("gpus").at(1), "0000:02:00.0");
  EXPECT_EQ(links.at("all_pairs_gbs"), 210.0);
}

TEST(LinkReport, SurvivesADeviceNameThatIsNoUtf8) {
  LinkReport report = two_gpus();
  report.machine.names.front() = "\xff\xfe";

  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("names").size(), 2U);
}

TEST(LinkReport, PrintsMatricesWithFaultsNamed) {
  const std::string text = to_text(two_gpus());

  EXPECT_NE(text.find("peer latency, us\n  from\\to        0        1\n"
                      "        0        -     1.25\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("        1    FAULT        -\n"), std::string::npos) << text;
  EXPECT_NE(text.find("FAULT host 1>0: latency: no answer within 10000 ms\n"), std::string::npos);
}

TEST(LinkReport, GivesNoShareOfWhatFailed) {
  ContentionResult result;
  result.alone_gbs = {50, 50};
  result.error = "hangs";

  EXPECT_FALSE(result.share());
}

TEST(Probe, IsReadAsItWasWritten) {
  const Probe probe{ProbeKind::bandwidth, Method::host, {{0, 12}, {3, 1}}};

  EXPECT_EQ(to_string(probe), "bandwidth host 0>12 3>1");
  EXPECT_EQ(parse_probe(to_string(probe)), probe);
}

TEST(Probe, RefusesOtherText) {
  for (const char* text : {"", "latency", "latency peer", "speed peer 0>1", "latency pcie 0>1",
                           "latency peer 0-1", "latency peer 0>-1", "latency peer 0>1x"}) {
    EXPECT_THROW(static_cast<void>(parse_probe(text)), Error) << text;
  }
}

TEST(Reading, IsReadAsItWasWritten) {
  const Reading values{{1.5, 12345.678}, std::nullopt};
  const Reading fault{{}, "cudaMalloc: out of memory"};

  EXPECT_EQ(parse_reading(to_string(values)), values);
  EXPECT_EQ(parse_reading(to_string(fault)), fault);
}

TEST(Reading, KeepsAnErrorOnOneLine) {
  EXPECT_EQ(to_string(Reading{{}, "first\nsecond"}), "error first second");
}

TEST(Reading, RefusesOtherText) {
  for (const char* text : {"", "1.5", "ok 1.5 x", "okay"}) {
    EXPECT_THROW(static_cast<void>(parse_reading(text)), Error) << text;
  }
}

}  // namespace
}  // namespace lanewise::bench
