// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/environment_plan.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

// Three environments; the middle one is the fastest and the best.
Profile make_planned_profile() {
  Profile profile;
  profile.environments = {
      {{}, 1.5, 0, {}},
      {{{"NCCL_MIN_NCHANNELS", "16"}, {"NCCL_P2P_LEVEL", "SYS"}}, 1.9, 48 << 20, {}},
      {{{"NCCL_MIN_NCHANNELS", "8"}}, 1.7, 16 << 20, {}}};
  profile.best_environment = 1;
  return profile;
}

TEST(EnvironmentPlan, AddsAllVariablesOfTheBestEnvironment) {
  const auto profile = make_planned_profile();

  const auto plan = plan_environment(profile, {{"NCCL_DEBUG", "INFO"}});

  EXPECT_EQ(plan.environment, &profile.environments[1]);
  EXPECT_EQ(plan.additions, profile.environments[1].variables);
  EXPECT_EQ(plan.remark, "");
}

TEST(EnvironmentPlan, AddsOnlyWhatIsMissing) {
  const auto profile = make_planned_profile();

  const auto plan = plan_environment(profile, {{"NCCL_P2P_LEVEL", "SYS"}});

  EXPECT_EQ(plan.environment, &profile.environments[1]);
  EXPECT_EQ(plan.additions, (Environment{{"NCCL_MIN_NCHANNELS", "16"}}));
}

TEST(EnvironmentPlan, TakesTheNextBestThatWasMeasuredWithTheUsersValue) {
  const auto profile = make_planned_profile();

  const auto plan = plan_environment(profile, {{"NCCL_MIN_NCHANNELS", "8"}});

  EXPECT_EQ(plan.environment, &profile.environments[2]);
  EXPECT_TRUE(plan.additions.empty());
  EXPECT_EQ(plan.remark,
            "NCCL_MIN_NCHANNELS=8 is set already and kept; the best environment was measured with "
            "NCCL_MIN_NCHANNELS=16 NCCL_P2P_LEVEL=SYS: the next best that fits is "
            "NCCL_MIN_NCHANNELS=8");
}

TEST(EnvironmentPlan, AddsNothingToAMixThatWasNotMeasured) {
  const auto profile = make_planned_profile();

  const auto plan = plan_environment(profile, {{"NCCL_MIN_NCHANNELS", "4"}});

  EXPECT_EQ(plan.environment, nullptr);
  EXPECT_TRUE(plan.additions.empty());
  EXPECT_NE(plan.remark.find("NCCL_MIN_NCHANNELS=4 is set already and kept"), std::string::npos);
}

TEST(EnvironmentPlan, AddsNothingWhereTheUserChoosesTheAlgorithm) {
  const auto profile = make_planned_profile();

  const auto plan = plan_environment(profile, {{"NCCL_ALGO", "Ring"}});

  EXPECT_EQ(plan.environment, nullptr);
  EXPECT_NE(plan.remark.find("NCCL_ALGO=Ring"), std::string::npos);
}

TEST(EnvironmentPlan, TakesAnEmptyVariableForTheUsersWord) {
  auto profile = make_planned_profile();
  profile.environments[1].variables = {{"NCCL_MIN_NCHANNELS", "16"}};

  const auto plan = plan_environment(profile, {{"NCCL_MIN_NCHANNELS", ""}});

  EXPECT_EQ(plan.environment, &profile.environments[0]);
  EXPECT_TRUE(plan.additions.empty());
}

TEST(EnvironmentPlan, KeepsAVariableOfTheUserThatNoMeasurementDependsOn) {
  auto profile = make_planned_profile();
  profile.environments[1].variables = {{"NCCL_CUMEM_ENABLE", "1"}};

  const auto plan = plan_environment(profile, {{"NCCL_CUMEM_ENABLE", "0"}});

  EXPECT_NE(plan.environment, &profile.environments[1]);
}

TEST(EnvironmentPlan, NeverAppliesAnUnsafeSetting) {
  auto profile = make_planned_profile();
  profile.unsafe = {{{{"NCCL_P2P_LEVEL", "SYS"}}, "hung at 64 KiB for 10 s"}};

  const auto plan = plan_environment(profile, {});

  EXPECT_EQ(plan.environment, &profile.environments[2]);
  EXPECT_NE(plan.remark.find("unsafe"), std::string::npos);
}

TEST(EnvironmentPlan, AddsTheBestEnvironmentToWhatEnginesSet) {
  const auto profile = make_planned_profile();

  for (const Environment& own : {Environment{{"NCCL_GRAPH_REGISTER", "0"}},
                                 Environment{{"NCCL_CUMEM_ENABLE", "0"}, {"NCCL_NVLS_ENABLE", "0"}},
                                 Environment{{"NCCL_P2P_DISABLE", "0"}}}) {
    const auto plan = plan_environment(profile, own);

    EXPECT_EQ(plan.environment, &profile.environments[1]) << to_string(own);
    EXPECT_EQ(plan.additions, profile.environments[1].variables) << to_string(own);
    EXPECT_EQ(plan.remark + plan.limit, "") << to_string(own);
  }
}

TEST(EnvironmentPlan, AddsTheBestEnvironmentToALimitThatLeavesItsChannels) {
  const auto profile = make_planned_profile();

  const auto plan = plan_environment(profile, {{"NCCL_MAX_CTAS", "8"}});

  EXPECT_EQ(plan.environment, &profile.environments[1]);
  EXPECT_EQ(plan.additions, profile.environments[1].variables);
  EXPECT_EQ(plan.remark, "");
  EXPECT_EQ(plan.limit, "NCCL_MAX_CTAS=8 leaves 16 channels: choices of more are left out");
}

TEST(EnvironmentPlan, AddsNothingWithoutABestEnvironment) {
  auto profile = make_planned_profile();
  profile.best_environment.reset();

  const auto plan = plan_environment(profile, {});

  EXPECT_EQ(plan.environment, nullptr);
  EXPECT_EQ(plan.remark, "the profile has no environment that beats stock's");
}

TEST(EnvironmentPlan, SaysTheGainAndTheMemory) {
  EXPECT_EQ(describe_measurement(make_planned_profile().environments[1]),
            "measured at 1.90x stock, 48.0 MiB more device memory a rank");
}

}  // namespace
}  // namespace lanewise
