// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

std::string failure(const Environment& environment) {
  try {
    static_cast<void>(parse_settings(environment));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, HaveDefaultsWhereNothingIsSet) {
  EXPECT_EQ(parse_settings({}), Settings{});
  EXPECT_EQ(parse_settings({{"LANEWISE_MODE", ""}, {"NCCL_ALGO", "ring"}}), Settings{});
}

TEST(Settings, TakeEveryVariableOfTheTable) {
  const auto settings = parse_settings({{"LANEWISE_MODE", "observe"},
                                        {"LANEWISE_MACHINE", "box.xml"},
                                        {"LANEWISE_PROFILE", "box.json"},
                                        {"LANEWISE_APPLY_ENV", "1"},
                                        {"LANEWISE_LOG", "trace"},
                                        {"LANEWISE_LOG_FILE", "log"},
                                        {"LANEWISE_AGREE", "require"},
                                        {"LANEWISE_AGREE_MS", "60000"},
                                        {"LANEWISE_STATS", "0"}});

  EXPECT_EQ(settings, (Settings{Mode::observe,
                                "box.xml",
                                "box.json",
                                EnvironmentChange::allowed,
                                LogLevel::trace,
                                "log",
                                AgreementRule::require,
                                std::chrono::minutes(1),
                                LiveStatistics::off,
                                {}}));
}

TEST(Settings, RejectAnUnknownWordAndSayWhatIsExpected) {
  EXPECT_EQ(failure({{"LANEWISE_MODE", "on"}}), "LANEWISE_MODE=on: expected apply, observe or off");
  EXPECT_EQ(failure({{"LANEWISE_APPLY_ENV", "yes"}}), "LANEWISE_APPLY_ENV=yes: expected 0 or 1");
  EXPECT_EQ(failure({{"LANEWISE_AGREE", "yes"}}), "LANEWISE_AGREE=yes: expected trust or require");
  for (const auto* value : {"0", "60001", "-1", "2s", "1e3", "99999999999"})
    EXPECT_NE(failure({{"LANEWISE_AGREE_MS", value}}).find("1 to 60000"), std::string::npos)
        << value;
  EXPECT_EQ(failure({{"LANEWISE_STATS", "2"}}), "LANEWISE_STATS=2: expected 0 or 1");
  EXPECT_EQ(failure({{"LANEWISE_LOG", "loud"}}),
            "LANEWISE_LOG=loud: expected trace, debug, info, warning, error or off");
}

TEST(Settings, NameTheNearestOfAnUnknownName) {
  const auto settings = parse_settings({{"LANEWISE_MOED", "off"}, {"LANEWISE_VERSION", "1"}});

  EXPECT_EQ(settings.mode, Mode::apply);
  EXPECT_EQ(settings.unknown_names,
            (std::vector<std::string>{
                "LANEWISE_MOED is no setting and changes nothing; the nearest is LANEWISE_MODE "
                "(`lanewise settings` lists all)",
                "LANEWISE_VERSION is no setting and changes nothing; the nearest is "
                "LANEWISE_MACHINE (`lanewise settings` lists all)"}));
}

TEST(Settings, LetTheBuildsVariableBe) {
  for (const auto* name :
       {"LANEWISE_DEPS_DIR", "LANEWISE_HWLOC_TARBALL", "LANEWISE_PUGIXML_TARBALL"})
    EXPECT_TRUE(parse_settings({{name, "/anywhere"}}).unknown_names.empty()) << name;
}

TEST(Settings, DescribeTheDefaultsThatTheyHave) {
  Environment defaults;
  for (const auto& setting : setting_descriptions()) {
    EXPECT_FALSE(setting.meaning.empty()) << setting.name;
    defaults.emplace(setting.name, setting.default_value);
  }

  EXPECT_EQ(parse_settings(defaults), Settings{});
}

TEST(ProcessEnvironment, HoldsOurVariablesAndNcclsAlone) {
  ::setenv("LANEWISE_MODE", "off", 1);
  ::setenv("NCCL_ALGO", "a=b", 1);
  ::setenv("OTHER_ALGO", "x", 1);

  const auto environment = read_process_environment();

  EXPECT_EQ(environment.at("LANEWISE_MODE"), "off");
  EXPECT_EQ(environment.at("NCCL_ALGO"), "a=b");
  EXPECT_FALSE(environment.contains("OTHER_ALGO"));
  ::unsetenv("LANEWISE_MODE");
  ::unsetenv("NCCL_ALGO");
}

}  // namespace
}  // namespace lanewise::host
