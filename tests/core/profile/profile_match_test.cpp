// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "core/profile/environment_key.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {
namespace {

Profile make_profile() {
  Profile profile;
  profile.fingerprint = "0123456789abcdef";
  profile.machine = "8x GPU";
  profile.nccl = {2, 30, 7};
  profile.environments = {
      {.variables = {}, .groups = {{.ranks = 8}, {.ranks = 4, .gpus = {0, 1, 2, 3}}}},
      {.variables = {{"NCCL_MIN_NCHANNELS", "16"}}, .groups = {{.ranks = 8}}}};
  return profile;
}

ProfileKey make_key() { return {"0123456789abcdef", {2, 30, 7}, {}, 8, {0, 1, 2, 3, 4, 5, 6, 7}}; }

TEST(ProfileMatch, FindsTheGroupOfTheSameEnvironment) {
  const auto profile = make_profile();
  auto key = make_key();

  EXPECT_EQ(match(profile, key).group, &profile.environments[0].groups[0]);

  key.environment = {{"NCCL_MIN_NCHANNELS", "16"}};
  EXPECT_EQ(match(profile, key).group, &profile.environments[1].groups[0]);
}

TEST(ProfileMatch, PrefersExactlyTheseGpusToAnyGpus) {
  auto profile = make_profile();
  profile.environments[0].groups.push_back({.ranks = 8, .gpus = {0, 1, 2, 3, 4, 5, 6, 7}});

  EXPECT_EQ(match(profile, make_key()).group, &profile.environments[0].groups[2]);
}

TEST(ProfileMatch, IgnoresVariablesThatChangeNoTransfer) {
  const auto profile = make_profile();
  auto key = make_key();
  key.environment = {{"NCCL_DEBUG", "INFO"}, {"NCCL_CUMEM_ENABLE", "0"}, {"NCCL_PROTO", ""}};

  EXPECT_NE(match(profile, key).group, nullptr);
}

TEST(ProfileMatch, RefusesAnotherMachineByItsName) {
  const auto profile = make_profile();
  auto key = make_key();
  key.fingerprint = "ffff456789abcdef";

  const auto found = match(profile, key);

  EXPECT_EQ(found.group, nullptr);
  EXPECT_EQ(found.refusal, "made on machine 0123456789abcdef (8x GPU), this is ffff456789abcdef");
}

TEST(ProfileMatch, RefusesAnotherPatchOfNccl) {
  const auto profile = make_profile();
  auto key = make_key();
  key.nccl = {2, 30, 4};

  EXPECT_EQ(match(profile, key).refusal, "made with NCCL 2.30.7, here is NCCL 2.30.4");
}

TEST(ProfileMatch, NamesTheVariablesOfTheNearestEnvironmentThatDiffer) {
  const auto profile = make_profile();
  auto key = make_key();
  key.environment = {{"NCCL_MIN_NCHANNELS", "32"}, {"NCCL_P2P_LEVEL", "SYS"}};

  const auto refusal = match(profile, key).refusal;

  EXPECT_NE(refusal.find("NCCL_P2P_LEVEL is not set there and SYS here"), std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find("NCCL_MIN_NCHANNELS is"), std::string::npos) << refusal;
}

TEST(ProfileMatch, SaysWhichRankCountsWereMeasured) {
  const auto profile = make_profile();
  auto key = make_key();
  key.ranks = 3;

  EXPECT_EQ(match(profile, key).refusal, "measured for 4, 8 ranks, here are 3");
}

TEST(ProfileMatch, SaysWhichGpusWereMeasured) {
  const auto profile = make_profile();
  auto key = make_key();
  key.ranks = 4;
  key.gpus = {4, 5, 6, 7};

  EXPECT_EQ(match(profile, key).refusal, "4 ranks were measured on GPUs 0,1,2,3, here on 4,5,6,7");

  key.gpus = {};
  EXPECT_EQ(match(profile, key).refusal,
            "4 ranks were measured on GPUs 0,1,2,3, which GPUs these are is not known");
}

TEST(ProfileMatch, RefusesAProfileWithoutMeasurements) {
  auto profile = make_profile();
  profile.environments.clear();

  EXPECT_EQ(match(profile, make_key()).refusal, "nothing was measured");
}

TEST(EnvironmentKey, KeepsOnlyWhatChangesATransfer) {
  const Environment part = keyed_part(
      {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_DEBUG", "WARN"}, {"PATH", "/bin"}, {"NCCL_ALGO", ""}});

  EXPECT_EQ(part, (Environment{{"NCCL_P2P_DISABLE", "1"}}));
}

TEST(EnvironmentKey, NamesEachVariableOnce) {
  const auto names = keyed_variables();
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(names[i].starts_with("NCCL_")) << names[i];
    for (std::size_t j = i + 1; j < names.size(); ++j) EXPECT_NE(names[i], names[j]);
  }
}

}  // namespace
}  // namespace lanewise
