// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "core/profile/environment_key.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {
namespace {

Profile make_matched_profile() {
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
  const auto profile = make_matched_profile();
  auto key = make_key();

  EXPECT_EQ(match(profile, key).group, &profile.environments[0].groups[0]);

  key.environment = {{"NCCL_MIN_NCHANNELS", "16"}};
  EXPECT_EQ(match(profile, key).group, &profile.environments[1].groups[0]);
}

TEST(ProfileMatch, PrefersExactlyTheseGpusToAnyGpus) {
  auto profile = make_matched_profile();
  profile.environments[0].groups.push_back({.ranks = 8, .gpus = {0, 1, 2, 3, 4, 5, 6, 7}});

  EXPECT_EQ(match(profile, make_key()).group, &profile.environments[0].groups[2]);
}

TEST(ProfileMatch, IgnoresVariablesThatChangeNoTransfer) {
  const auto profile = make_matched_profile();
  auto key = make_key();
  key.environment = {{"NCCL_DEBUG", "INFO"}, {"NCCL_CUMEM_ENABLE", "0"}, {"NCCL_PROTO", ""}};

  EXPECT_NE(match(profile, key).group, nullptr);
}

TEST(ProfileMatch, RefusesAnotherMachineByItsName) {
  const auto profile = make_matched_profile();
  auto key = make_key();
  key.fingerprint = "ffff456789abcdef";

  const auto found = match(profile, key);

  EXPECT_EQ(found.group, nullptr);
  EXPECT_EQ(found.refusal, "made on machine 0123456789abcdef (8x GPU), this is ffff456789abcdef");
}

TEST(ProfileMatch, RefusesAnotherPatchOfNccl) {
  const auto profile = make_matched_profile();
  auto key = make_key();
  key.nccl = {2, 30, 4};

  EXPECT_EQ(match(profile, key).refusal, "made with NCCL 2.30.7, here is NCCL 2.30.4");
}

TEST(ProfileMatch, NamesTheVariablesOfTheNearestEnvironmentThatDiffer) {
  const auto profile = make_matched_profile();
  auto key = make_key();
  key.environment = {{"NCCL_MIN_NCHANNELS", "32"}, {"NCCL_P2P_LEVEL", "SYS"}};

  const auto refusal = match(profile, key).refusal;

  EXPECT_NE(refusal.find("NCCL_P2P_LEVEL is not set there and SYS here"), std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find("NCCL_MIN_NCHANNELS is"), std::string::npos) << refusal;
}

TEST(ProfileMatch, SaysWhichRankCountsWereMeasured) {
  const auto profile = make_matched_profile();
  auto key = make_key();
  key.ranks = 3;

  EXPECT_EQ(match(profile, key).refusal, "measured for 4, 8 ranks, here are 3");
}

TEST(ProfileMatch, SaysWhichGpusWereMeasured) {
  const auto profile = make_matched_profile();
  auto key = make_key();
  key.ranks = 4;
  key.gpus = {4, 5, 6, 7};

  EXPECT_EQ(match(profile, key).refusal, "4 ranks were measured on GPUs 0,1,2,3, here on 4,5,6,7");

  key.gpus = {};
  EXPECT_EQ(match(profile, key).refusal,
            "4 ranks were measured on GPUs 0,1,2,3, which GPUs these are is not known");
}

TEST(ProfileMatch, RefusesAProfileWithoutMeasurements) {
  auto profile = make_matched_profile();
  profile.environments.clear();

  EXPECT_EQ(match(profile, make_key()).refusal, "nothing was measured");
}

TEST(EnvironmentKey, KeepsOnlyWhatChangesATransfer) {
  const Environment part = keyed_part(
      {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_DEBUG", "WARN"}, {"PATH", "/bin"}, {"NCCL_ALGO", ""}});

  EXPECT_EQ(part, (Environment{{"NCCL_P2P_DISABLE", "1"}}));
}

TEST(EnvironmentKey, TakesValuesAsNcclDoes) {
  EXPECT_EQ(keyed_part({{"NCCL_BUFFSIZE", "0x100000"}, {"NCCL_NTHREADS", " 256"}}),
            (Environment{{"NCCL_BUFFSIZE", "1048576"}, {"NCCL_NTHREADS", "256"}}));
  EXPECT_TRUE(keyed_part({{"NCCL_P2P_DISABLE", "0"}, {"NCCL_SHM_LOCALITY", "2"}}).empty());
  EXPECT_TRUE(keyed_part({{"NCCL_MIN_NCHANNELS", "-2"}, {"NCCL_BUFFSIZE", "many"}}).empty());
}

Profile make_profile_with_rules() {
  Profile profile;
  profile.nccl = {2, 30, 7};
  std::vector<Rule> rules;
  for (const int channels : {4, 8, 12, 16, 0}) {
    const std::size_t bytes = 14336 * (rules.size() + 1);
    rules.push_back({.bytes = {bytes, bytes}, .choice = {Algorithm::ring, Protocol::ll, channels}});
  }
  const GpuGroup group{.ranks = 8, .rules = RuleSet(rules, {1 << 20})};
  profile.environments = {
      {.variables = {}, .groups = {group}},
      {.variables = {{"NCCL_MIN_NCHANNELS", "12"}, {"NCCL_P2P_LEVEL", "SYS"}}, .groups = {group}}};
  return profile;
}

std::vector<int> usable_channels_in(const Environment& here) {
  const auto profile = make_profile_with_rules();
  const auto matched =
      match(profile, {.nccl = profile.nccl, .environment = here, .ranks = 8, .gpus = {}});
  std::vector<int> channels;
  for (const auto& rule : usable_rules(matched).rules()) channels.push_back(rule.choice.channels);
  return channels;
}

TEST(ProfileMatch, KeepsTheRulesThatALimitOfChannelsDoesNotTouch) {
  const std::vector<int> all = {4, 8, 12, 16, 0};

  EXPECT_EQ(usable_channels_in({}), all);
  EXPECT_EQ(usable_channels_in({{"NCCL_MAX_CTAS", "8"}}), (std::vector<int>{4, 8}));
  EXPECT_EQ(usable_channels_in({{"NCCL_MAX_NCHANNELS", "12"}}), (std::vector<int>{4, 8, 12}));
  EXPECT_EQ(usable_channels_in({{"NCCL_MAX_NRINGS", "1"}}), std::vector<int>{});
  EXPECT_EQ(usable_channels_in({{"NCCL_MAX_CTAS", "64"}, {"NCCL_MIN_CTAS", "2"}}), all);
}

TEST(ProfileMatch, KnowsThatAMinimumOfChannelsBeatsALimit) {
  const Environment measured = {{"NCCL_MIN_NCHANNELS", "12"}, {"NCCL_P2P_LEVEL", "SYS"}};
  auto limited = measured;
  limited.emplace("NCCL_MAX_CTAS", "8");

  EXPECT_EQ(usable_channels_in(limited), (std::vector<int>{4, 8, 12}));
}

TEST(ProfileMatch, RefusesMoreChannelsThanWereMeasured) {
  const auto profile = make_profile_with_rules();
  const auto matched = match(
      profile,
      {.nccl = profile.nccl, .environment = {{"NCCL_MIN_CTAS", "16"}}, .ranks = 8, .gpus = {}});

  EXPECT_EQ(matched.refusal,
            "measured in another environment: NCCL_MIN_CTAS is not set there and 16 here");
  EXPECT_EQ(matched.kind, Refusal::profile);
}

TEST(ProfileMatch, KeepsWhereStockWasBestUnderALimit) {
  const auto profile = make_profile_with_rules();
  const auto matched = match(
      profile,
      {.nccl = profile.nccl, .environment = {{"NCCL_MAX_CTAS", "1"}}, .ranks = 8, .gpus = {}});

  EXPECT_TRUE(usable_rules(matched).keeps_stock(1 << 20));
}

TEST(ProfileMatch, IgnoresWhetherBuffersAreRegistered) {
  EXPECT_EQ(usable_channels_in({{"NCCL_GRAPH_REGISTER", "0"}, {"NCCL_LOCAL_REGISTER", "0"}}),
            usable_channels_in({}));
}

TEST(ProfileMatch, PrefersTheEnvironmentThatWasMeasuredUnderTheLimit) {
  auto profile = make_profile_with_rules();
  profile.environments.push_back({.variables = {{"NCCL_MAX_CTAS", "8"}}});

  const auto found = match_environment(profile, {{"NCCL_MAX_CTAS", "8"}});

  EXPECT_EQ(found.nearest, &profile.environments[2]);
  EXPECT_FALSE(found.most_channels);
}

}  // namespace
}  // namespace lanewise
