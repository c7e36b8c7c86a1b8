// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "search/environment_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr long long mebibyte = 1 << 20;
constexpr long long plenty = 256 * mebibyte;

using Machine = std::function<Screening(const Environment&)>;

std::string value_of(const Environment& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

// More channels are faster and cost 2 MiB each; nothing else matters.
Screening measure(const Environment& variables) {
  const auto channels = value_of(variables, "NCCL_MIN_NCHANNELS");
  if (channels.empty()) return {variables, 1.5, 0, ""};
  const int count = std::stoi(channels);
  return {variables, 1.5 + 0.02 * count, 2 * mebibyte * count, ""};
}

EnvironmentSearch run(const Machine& machine, const Environment& own = {},
                      long long limit = plenty) {
  EnvironmentSearch search(own, setting_axes(own, "", Ll128Buffers::needed), limit);
  while (const auto variables = search.next()) search.record(machine(*variables));
  return search;
}

bool was_screened(const EnvironmentSearch& search, const Environment& variables) {
  return std::any_of(search.screenings().begin(), search.screenings().end(),
                     [&](const Screening& done) { return done.variables == variables; });
}

// As the search asks for so many channels.
Environment with_channels(const std::string& channels) {
  for (const auto& axis : setting_axes({}, "", Ll128Buffers::needed))
    for (const auto& value : axis.values)
      if (value_of(value, "NCCL_MIN_NCHANNELS") == channels) return value;
  return {};
}

TEST(EnvironmentSearch, ScreensTheUsersOwnEnvironmentFirst) {
  const auto search = run(measure, {{"NCCL_P2P_DISABLE", "1"}});

  EXPECT_EQ(search.screenings().front().variables, (Environment{{"NCCL_P2P_DISABLE", "1"}}));
  for (const auto& screening : search.screenings())
    EXPECT_EQ(value_of(screening.variables, "NCCL_P2P_DISABLE"), "1");
}

TEST(EnvironmentSearch, LeavesOutSettingsThatTheUserMade) {
  const auto search = run(measure, {{"NCCL_MIN_NCHANNELS", "4"}});

  for (const auto& screening : search.screenings())
    EXPECT_EQ(value_of(screening.variables, "NCCL_MIN_NCHANNELS"), "4");
}

TEST(EnvironmentSearch, FindsTheFastest) {
  const auto found = run(measure).worthwhile();

  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].variables, with_channels("32"));
  EXPECT_EQ(found[1].variables, Environment{});
}

TEST(EnvironmentSearch, ScreensAllThatWasGivenAndNothingElse) {
  const Environment large = {{"NCCL_MIN_NCHANNELS", "32"}};
  const Environment small = {{"NCCL_BUFFSIZE", "1048576"}, {"NCCL_MIN_NCHANNELS", "8"}};
  EnvironmentSearch search({}, given_axes({large, small}), 20 * mebibyte);
  while (const auto variables = search.next()) search.record(measure(*variables));

  ASSERT_EQ(search.screenings().size(), 3U);
  EXPECT_EQ(search.screenings()[1].variables, large);
  ASSERT_FALSE(search.worthwhile().empty());
  EXPECT_EQ(search.worthwhile().front().variables, small);
}

TEST(EnvironmentSearch, CutsBuffersThatNothingUses) {
  const auto channels = [](const Environment& own, Ll128Buffers ll128) {
    for (const auto& axis : setting_axes(own, "", ll128))
      if (axis.name == "channels") return axis.values.front();
    return Environment{};
  };

  EXPECT_EQ(channels({}, Ll128Buffers::idle), (Environment{{"NCCL_BUFFSIZE", "2097152"},
                                                           {"NCCL_LL128_BUFFSIZE", "307200"},
                                                           {"NCCL_MIN_NCHANNELS", "8"}}));
  EXPECT_EQ(channels({}, Ll128Buffers::needed),
            (Environment{{"NCCL_BUFFSIZE", "2097152"}, {"NCCL_MIN_NCHANNELS", "8"}}));
  EXPECT_EQ(channels({{"NCCL_LL128_BUFFSIZE", "1048576"}, {"NCCL_BUFFSIZE", "4194304"}},
                     Ll128Buffers::idle),
            (Environment{{"NCCL_MIN_NCHANNELS", "8"}}));
}

TEST(EnvironmentSearch, MoreChannelsShareStocksBuffers) {
  for (const auto& axis : setting_axes({}, "", Ll128Buffers::needed)) {
    if (axis.name != "channels") continue;
    for (const auto& value : axis.values)
      EXPECT_EQ(std::stoll(value_of(value, "NCCL_MIN_NCHANNELS")) *
                    std::stoll(value_of(value, "NCCL_BUFFSIZE")),
                16 * mebibyte);
  }
}

TEST(EnvironmentSearch, BuildsOneSettingOnTheOther) {
  const auto search = run([](const Environment& variables) {
    auto screening = measure(variables);
    if (variables.contains("NCCL_P2P_LEVEL")) screening.speedup += 0.5;
    return screening;
  });

  auto with_level = with_channels("32");
  with_level.emplace("NCCL_P2P_LEVEL", "SYS");
  EXPECT_EQ(search.worthwhile().front().variables, with_level);
}

TEST(EnvironmentSearch, DoesNotTakeNoiseForAStep) {
  const auto found = run([](const Environment& variables) {
                       return Screening{variables, variables.empty() ? 1.5 : 1.52, 0, ""};
                     }).worthwhile();

  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].variables.empty());
}

TEST(EnvironmentSearch, TakesTheSmallerOfTwoThatAreAlike) {
  const auto search = run([](const Environment& variables) {
    auto screening = measure(variables);
    if (value_of(variables, "NCCL_MIN_NCHANNELS") == "32") screening.speedup = 1.83;
    return screening;
  });

  EXPECT_EQ(search.worthwhile().front().variables, with_channels("16"));
}

TEST(EnvironmentSearch, StaysWithinTheMemoryLimit) {
  const auto search = run(measure, {}, 32 * mebibyte);

  EXPECT_EQ(search.worthwhile().front().variables, with_channels("16"));
  EXPECT_TRUE(was_screened(search, with_channels("32")));
}

TEST(EnvironmentSearch, DoesNotTryMoreOfWhatWasTooLarge) {
  const auto search = run(measure, {}, 8 * mebibyte);

  EXPECT_TRUE(was_screened(search, with_channels("8")));
  EXPECT_FALSE(was_screened(search, with_channels("16")));
}

TEST(EnvironmentSearch, RecordsAHangAndNeverBuildsOnIt) {
  const auto search = run([](const Environment& variables) {
    auto screening = measure(variables);
    if (value_of(variables, "NCCL_MIN_NCHANNELS") == "32") screening.fault = "no answer in 10 s";
    return screening;
  });

  EXPECT_EQ(search.worthwhile().front().variables, with_channels("16"));
  ASSERT_EQ(search.unsafe_settings().size(), 1U);
  EXPECT_EQ(search.unsafe_settings()[0], (UnsafeSetting{with_channels("32"), "no answer in 10 s"}));
}

TEST(EnvironmentSearch, RecordsAWrongSumHoweverFast) {
  const auto search = run([](const Environment& variables) {
    if (variables.contains("NCCL_P2P_LEVEL")) return Screening{variables, 9.0, 0, "1 wrong sum"};
    return measure(variables);
  });

  EXPECT_FALSE(search.worthwhile().front().variables.contains("NCCL_P2P_LEVEL"));
  EXPECT_EQ(search.unsafe_settings().front().evidence, "1 wrong sum");
}

TEST(EnvironmentSearch, EndsAtOnceWhereTheBaseIsUnsound) {
  const auto search = run([](const Environment& variables) {
    return Screening{variables, 0, 0, "hung"};
  });

  EXPECT_EQ(search.screenings().size(), 1U);
  EXPECT_TRUE(search.worthwhile().empty());
}

TEST(EnvironmentSearch, TriesAGraphFileBeforeAllElse) {
  EnvironmentSearch search({}, setting_axes({}, "/x/graph.xml", Ll128Buffers::needed), plenty);
  search.record({{}, 1.0, 0, ""});

  EXPECT_EQ(search.next(), (Environment{{"NCCL_GRAPH_FILE", "/x/graph.xml"}}));
}

TEST(EnvironmentSearch, NeedsFewScreenings) { EXPECT_LE(run(measure).screenings().size(), 12U); }

TEST(EnvironmentSearch, RejectsAScreeningOutOfTurn) {
  EnvironmentSearch search({}, setting_axes({}, "", Ll128Buffers::needed), plenty);

  EXPECT_THROW(search.record({{{"NCCL_ALGO", "Ring"}}, 1.0, 0, ""}), Error);
}

TEST(SettingAxes, MoreChannelsThanAGpuHoldsAreNotTried) {
  for (const auto& axis : setting_axes({}, "", Ll128Buffers::needed, 16)) {
    for (const auto& value : axis.values) {
      const auto found = value.find("NCCL_MIN_NCHANNELS");
      EXPECT_LE(found == value.end() ? 0 : std::stoi(found->second), 16);
    }
  }
}

TEST(SettingAxes, AnAxisOfWhichNothingFitsIsLeftOut) {
  for (const auto& axis : setting_axes({}, "", Ll128Buffers::needed, 4))
    EXPECT_NE(axis.name, "channels");
}

}  // namespace
}  // namespace lanewise
