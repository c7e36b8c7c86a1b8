// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "core/profile/environment_plan.hpp"
#include "core/profile/profile.hpp"
#include "host/files/json.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::host {
namespace {

struct EngineEnvironment {
  std::string name;
  Environment variables;  // all that any of its modes sets
};

std::vector<EngineEnvironment> read_engines() {
  const std::string path = LANEWISE_ENGINES_FILE;
  const JsonValue document = parse_json(read_text_file(path), path);
  std::vector<EngineEnvironment> engines;
  for (const auto& item : JsonField(path, "engines", document).at("engines").items()) {
    EngineEnvironment engine;
    engine.name = item.at("engine").text();
    for (const auto& variable : item.at("variables").items())
      engine.variables.emplace(variable.at("name").text(), variable.at("value").text());
    engines.push_back(engine);
  }
  return engines;
}

// As a tuning outside of any engine leaves it: stock's environment and one that is faster.
Profile make_profile() {
  Profile profile;
  profile.nccl = {2, 30, 7};
  const GpuGroup group{
      .ranks = 8,
      .rules = RuleSet({{.bytes = {14336, 14336}, .choice = {Algorithm::tree, Protocol::ll, 4}},
                        {.bytes = {57344, 57344}, .choice = {Algorithm::ring, Protocol::ll, 8}}})};
  profile.environments = {
      {.variables = {}, .speedup = 1.5, .groups = {group}},
      {.variables = {{"NCCL_MIN_NCHANNELS", "16"}, {"NCCL_BUFFSIZE", "1048576"}},
       .speedup = 1.9,
       .groups = {group}}};
  profile.best_environment = 1;
  return profile;
}

RuleSet rules_in(const Profile& profile, const Environment& environment) {
  return usable_rules(
      match(profile, {.nccl = profile.nccl, .environment = environment, .ranks = 8, .gpus = {}}));
}

TEST(Engines, KeepTheRulesOfAProfile) {
  const auto profile = make_profile();
  ASSERT_GE(read_engines().size(), 2U);
  for (const auto& engine : read_engines())
    EXPECT_EQ(rules_in(profile, engine.variables), profile.environments[0].groups[0].rules)
        << engine.name;
}

TEST(Engines, KeepTheBestEnvironmentAndItsRules) {
  const auto profile = make_profile();
  for (const auto& engine : read_engines()) {
    // `lanewise run` sets the environment before the engine sets its own variables.
    auto joined = plan_environment(profile, {}).additions;
    joined.merge(Environment(engine.variables));
    EXPECT_EQ(rules_in(profile, joined), profile.environments[1].groups[0].rules) << engine.name;

    // A user may set them first.
    const auto plan = plan_environment(profile, engine.variables);
    EXPECT_EQ(plan.environment, &profile.environments[1]) << engine.name;
    EXPECT_EQ(plan.additions, profile.environments[1].variables) << engine.name;
  }
}

}  // namespace
}  // namespace lanewise::host
