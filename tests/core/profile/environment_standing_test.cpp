// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/environment_standing.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

Profile make_standing_profile() {
  Profile profile;
  profile.environments = {
      {{}, 1.5, 0, {}},
      {{{"NCCL_MIN_NCHANNELS", "16"}, {"NCCL_P2P_LEVEL", "SYS"}}, 1.9, 48 << 20, {}}};
  profile.best_environment = 1;
  return profile;
}

EnvironmentStanding standing_of(const Profile& profile, const Environment& own,
                                EnvironmentCarrier carrier = EnvironmentCarrier::nobody) {
  LaunchRequest request;
  request.own = own;
  request.profile = &profile;
  return find_standing(profile, request, carrier);
}

TEST(EnvironmentStanding, FindsStocksEnvironmentInForceWhereNothingIsSet) {
  const auto profile = make_standing_profile();

  const auto standing = standing_of(profile, {{"NCCL_DEBUG", "INFO"}});

  EXPECT_EQ(standing.in_force, &profile.environments[0]);
  EXPECT_EQ(standing.best, &profile.environments[1]);
  EXPECT_EQ(standing.launch.variables.size(), 3U);
}

TEST(EnvironmentStanding, FindsTheBestInForceWhereAllOfItIsSet) {
  const auto profile = make_standing_profile();

  const auto standing = standing_of(profile, profile.environments[1].variables);

  EXPECT_EQ(standing.in_force, standing.best);
  EXPECT_EQ(standing.difference, "");
}

TEST(EnvironmentStanding, NamesWhatTheOneInForceHasAndIsNotSet) {
  auto profile = make_standing_profile();
  profile.environments[0].variables = {{"NCCL_IB_DISABLE", "1"}};  // no key

  const auto standing = standing_of(profile, {});

  EXPECT_EQ(standing.in_force, &profile.environments[0]);
  EXPECT_EQ(standing.not_set, (Environment{{"NCCL_IB_DISABLE", "1"}}));
  EXPECT_TRUE(standing_of(profile, {{"NCCL_IB_DISABLE", "1"}}).not_set.empty());
}

TEST(EnvironmentStanding, SaysWhatDiffersWhereNothingWasMeasured) {
  const auto profile = make_standing_profile();

  const auto standing = standing_of(profile, {{"NCCL_MIN_NCHANNELS", "4"}});

  EXPECT_EQ(standing.in_force, nullptr);
  EXPECT_EQ(standing.difference, "NCCL_MIN_NCHANNELS is not set there and 4 here");
}

TEST(EnvironmentStanding, CountsWhatACarrierBrings) {
  const auto profile = make_standing_profile();

  const auto standing = standing_of(profile, {}, EnvironmentCarrier::env_plugin);

  EXPECT_EQ(standing.in_force, standing.best);
  EXPECT_EQ(standing.seen.at("NCCL_MIN_NCHANNELS"), "16");
}

TEST(EnvironmentStanding, KeepsTheUsersValueUnderACarrier) {
  const auto profile = make_standing_profile();

  const auto standing =
      standing_of(profile, {{"NCCL_MIN_NCHANNELS", "4"}}, EnvironmentCarrier::net_plugin);

  EXPECT_EQ(standing.in_force, nullptr);
  EXPECT_EQ(standing.seen.at("NCCL_MIN_NCHANNELS"), "4");
}

TEST(EnvironmentStanding, HasNoBestWhereNoneBeatsStock) {
  auto profile = make_standing_profile();
  profile.best_environment.reset();

  EXPECT_EQ(standing_of(profile, {}).best, nullptr);
}

TEST(EnvironmentStanding, FindsNothingInAnEmptyProfile) {
  const Profile profile;

  const auto standing = standing_of(profile, {});

  EXPECT_EQ(standing.in_force, nullptr);
  EXPECT_EQ(standing.best, nullptr);
}

TEST(ReplaceEnvironment, TakesOutWhatWasNotMeasuredAndKeepsTheRest) {
  const auto profile = make_standing_profile();

  const auto replaced = replace_environment({{"NCCL_MAX_NCHANNELS", "2"}, {"NCCL_DEBUG", "INFO"}},
                                            profile.environments[1]);

  EXPECT_EQ(replaced,
            (Environment{
                {"NCCL_DEBUG", "INFO"}, {"NCCL_MIN_NCHANNELS", "16"}, {"NCCL_P2P_LEVEL", "SYS"}}));
}

}  // namespace
}  // namespace lanewise
