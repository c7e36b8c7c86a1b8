// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/launch_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"

namespace lanewise {
namespace {

const std::string* find(const LaunchPlan& plan, std::string_view name) {
  const auto found = std::find_if(plan.variables.begin(), plan.variables.end(),
                                  [&](const auto& variable) { return variable.name == name; });
  return found == plan.variables.end() ? nullptr : &found->value;
}

std::string value_of(const LaunchPlan& plan, std::string_view name) {
  const auto* value = find(plan, name);
  return value == nullptr ? "not set" : *value;
}

Profile make_launch_profile() {
  Profile profile;
  profile.environments = {{{{"NCCL_MIN_NCHANNELS", "16"}}, 1.9, 48 << 20, {}}};
  profile.best_environment = 0;
  return profile;
}

LaunchRequest make_request(const Profile& profile) {
  return {.own = {}, .plugin_folder = "/opt/lanewise/lib", .profile_path = {}, .profile = &profile};
}

TEST(LaunchPlan, LoadsThePluginAndAppliesTheEnvironment) {
  const auto profile = make_launch_profile();

  const auto plan = plan_launch(make_request(profile));

  EXPECT_EQ(value_of(plan, "NCCL_TUNER_PLUGIN"), "lanewise");
  EXPECT_EQ(value_of(plan, "LD_LIBRARY_PATH"), "/opt/lanewise/lib");
  EXPECT_EQ(value_of(plan, "NCCL_MIN_NCHANNELS"), "16");
  EXPECT_TRUE(plan.remarks.empty());
}

TEST(LaunchPlan, GivesEachVariableOfTheEnvironmentItsGainAndMemory) {
  const auto profile = make_launch_profile();

  const auto plan = plan_launch(make_request(profile));

  EXPECT_EQ(plan.variables.back().name, "NCCL_MIN_NCHANNELS");
  EXPECT_EQ(plan.variables.back().reason,
            "measured at 1.90x stock, 48.0 MiB more device memory a rank");
}

TEST(LaunchPlan, KeepsTheUsersLoaderPathInFront) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["LD_LIBRARY_PATH"] = "/usr/local/nvidia/lib:/x";

  EXPECT_EQ(value_of(plan_launch(request), "LD_LIBRARY_PATH"),
            "/usr/local/nvidia/lib:/x:/opt/lanewise/lib");
}

TEST(LaunchPlan, LeavesALoaderPathThatHoldsTheFolder) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["LD_LIBRARY_PATH"] = "/x:/opt/lanewise/lib";

  EXPECT_EQ(find(plan_launch(request), "LD_LIBRARY_PATH"), nullptr);
}

TEST(LaunchPlan, PutsItsFolderBeforeAnotherCopysAndSaysSo) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["LD_LIBRARY_PATH"] = "/old/lib:/x";
  request.other_copies = {"/old/lib"};

  const auto plan = plan_launch(request);

  EXPECT_EQ(value_of(plan, "LD_LIBRARY_PATH"), "/opt/lanewise/lib:/old/lib:/x");
  ASSERT_EQ(plan.remarks.size(), 1U);
  EXPECT_NE(plan.remarks[0].find("/old/lib holds another copy"), std::string::npos);
}

TEST(LaunchPlan, TakesATunerThatIsNotThereForNone) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["NCCL_TUNER_PLUGIN"] = "/gone/libnccl-tuner-lanewise.so";
  request.is_tuner_there = false;
  request.tuner_remark = "is not there";

  EXPECT_EQ(find(plan_launch(request), "NCCL_MIN_NCHANNELS"), nullptr);
}

TEST(LaunchPlan, RefusesAFolderThatALoaderPathCannotHold) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.plugin_folder = "/opt/a:b";

  EXPECT_THROW(static_cast<void>(plan_launch(request)), Error);
}

TEST(LaunchPlan, KeepsAnotherTunerAndLeavesOutTheEnvironment) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["NCCL_TUNER_PLUGIN"] = "ofi";

  const auto plan = plan_launch(request);

  EXPECT_EQ(find(plan, "NCCL_TUNER_PLUGIN"), nullptr);
  EXPECT_EQ(find(plan, "NCCL_MIN_NCHANNELS"), nullptr);
  ASSERT_EQ(plan.remarks.size(), 2U);
  EXPECT_EQ(plan.remarks[0], "NCCL_TUNER_PLUGIN=ofi is set already and kept");
}

TEST(LaunchPlan, KnowsItsOwnPluginByPath) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["NCCL_TUNER_PLUGIN"] = "/opt/lanewise/lib/libnccl-tuner-lanewise.so";

  EXPECT_EQ(value_of(plan_launch(request), "NCCL_MIN_NCHANNELS"), "16");
}

TEST(LaunchPlan, KeepsTheUsersValueAndSaysSo) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["NCCL_MIN_NCHANNELS"] = "4";

  const auto plan = plan_launch(request);

  EXPECT_EQ(find(plan, "NCCL_MIN_NCHANNELS"), nullptr);
  ASSERT_EQ(plan.remarks.size(), 2U);
  EXPECT_NE(plan.remarks[0].find("NCCL_MIN_NCHANNELS=4 is set already and kept"),
            std::string::npos);
}

TEST(LaunchPlan, SaysThatTheProfilesChoicesAreNotUsed) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["NCCL_ALGO"] = "Ring";

  const auto plan = plan_launch(request);

  ASSERT_EQ(plan.remarks.size(), 2U);
  EXPECT_EQ(plan.remarks[1],
            "the profile's choices are not used: they were measured in another environment: "
            "NCCL_ALGO is not set there and Ring here, NCCL_MIN_NCHANNELS is 16 there and not set "
            "here, NCCL_THREAD_THRESHOLDS is not set there and -1 -1 -1 8 here");
}

TEST(LaunchPlan, SaysWhatWasSetToTheBestValueAlready) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["NCCL_MIN_NCHANNELS"] = "16";

  const auto plan = plan_launch(request);

  EXPECT_EQ(find(plan, "NCCL_MIN_NCHANNELS"), nullptr);
  EXPECT_EQ(plan.remarks,
            std::vector<std::string>{"NCCL_MIN_NCHANNELS=16 is set already and kept"});
}

TEST(LaunchPlan, RefusesAProfileThatContradictsTheUsersSetting) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.profile_path = "/a.json";
  request.own["LANEWISE_PROFILE"] = "/b.json";

  EXPECT_THROW(static_cast<void>(plan_launch(request)), Error);
}

TEST(LaunchPlan, WorksWithoutAProfile) {
  const auto plan = plan_launch({.own = {}, .plugin_folder = "/p", .profile_path = {}});

  EXPECT_EQ(value_of(plan, "NCCL_TUNER_PLUGIN"), "lanewise");
  EXPECT_EQ(value_of(plan, "LD_LIBRARY_PATH"), "/p");
  EXPECT_EQ(plan.variables.size(), 3U);
}

TEST(LaunchPlan, AppliesTheBaseEnvironmentWhereNothingWasMeasured) {
  const auto plan = plan_launch({});

  EXPECT_EQ(value_of(plan, "NCCL_THREAD_THRESHOLDS"), "-1 -1 -1 8");
  EXPECT_TRUE(plan.has_base_environment);
}

TEST(LaunchPlan, NamesTheEnvPluginWhereNcclAsksItForEachCommunicator) {
  LaunchRequest request;
  request.base = BaseCarrier::env_plugin;
  const auto value_for = [&](const NcclRelease& release) {
    request.release = release;
    return plan_launch(request).variables.back();
  };

  EXPECT_EQ(value_for({2, 32, 3}).name, "NCCL_ENV_PLUGIN");
  EXPECT_EQ(value_for({2, 32, 3}).value, "lanewise");
  EXPECT_EQ(value_for({2, 30, 7}).name, "NCCL_THREAD_THRESHOLDS");

  request.own["NCCL_TUNER_PLUGIN"] = "/opt/libnccl-tuner-lanewise.so";
  EXPECT_EQ(value_for({2, 32, 3}).value, "/opt/libnccl-tuner-lanewise.so");

  request.own["NCCL_ENV_PLUGIN"] = "of_my_own";
  EXPECT_EQ(value_for({2, 32, 3}).name, "NCCL_THREAD_THRESHOLDS");

  request.own["NCCL_THREAD_THRESHOLDS"] = "1";
  request.release = {2, 32, 3};
  EXPECT_TRUE(plan_launch(request).variables.empty());
}

TEST(LaunchPlan, KeepsTheUsersThresholdsAlsoWhereTheyAreEmpty) {
  for (const std::string value : {"1 1 1 1 1 1", ""}) {
    const auto plan = plan_launch({.own = {{"NCCL_THREAD_THRESHOLDS", value}}});

    EXPECT_EQ(find(plan, "NCCL_THREAD_THRESHOLDS"), nullptr);
    EXPECT_EQ(plan.remarks, std::vector<std::string>{"NCCL_THREAD_THRESHOLDS=" + value +
                                                     " is set already and kept"});
  }
}

TEST(LaunchPlan, AppliesAMeasuredEnvironmentAsItWasMeasured) {
  const auto profile = make_launch_profile();

  EXPECT_EQ(find(plan_launch(make_request(profile)), "NCCL_THREAD_THRESHOLDS"), nullptr);
}

TEST(LaunchPlan, AppliesTheBaseEnvironmentWhereNoMeasuredOneFits) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.own["NCCL_P2P_LEVEL"] = "SYS";

  EXPECT_EQ(value_of(plan_launch(request), "NCCL_THREAD_THRESHOLDS"), "-1 -1 -1 8");
}

TEST(LaunchPlan, NeverAppliesABaseEnvironmentThatWasFoundUnsafe) {
  Profile profile;
  profile.unsafe = {{{{"NCCL_THREAD_THRESHOLDS", "-1 -1 -1 8"}}, "hung"}};

  EXPECT_EQ(find(plan_launch(make_request(profile)), "NCCL_THREAD_THRESHOLDS"), nullptr);
}

TEST(LaunchPlan, LeavesTheEnvironmentAloneWhereAskedTo) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.environment = EnvironmentUse::leave;

  EXPECT_EQ(plan_launch(request).variables.size(), 2U);
}

TEST(LaunchPlan, LeavesOutTheBaseEnvironmentBesideAnotherTuner) {
  const auto plan = plan_launch({.own = {{"NCCL_TUNER_PLUGIN", "ofi"}}});

  EXPECT_TRUE(plan.variables.empty());
}

TEST(LaunchFormat, QuotesForAShell) {
  const LaunchVariable variable{"NCCL_THREAD_THRESHOLDS", "8 8 64 it's", ""};

  EXPECT_EQ(format_variable(variable, LaunchFormat::shell),
            "export NCCL_THREAD_THRESHOLDS='8 8 64 it'\\''s'");
}

TEST(LaunchFormat, LeavesPlainWordsUnquoted) {
  const LaunchVariable variable{"NCCL_MIN_NCHANNELS", "16", ""};

  EXPECT_EQ(format_variable(variable, LaunchFormat::shell), "export NCCL_MIN_NCHANNELS=16");
  EXPECT_EQ(format_variable(variable, LaunchFormat::docker), "-e NCCL_MIN_NCHANNELS=16");
}

TEST(LaunchFormat, EscapesForSystemd) {
  const LaunchVariable variable{"A", "50% \"x\" \\", ""};

  EXPECT_EQ(format_variable(variable, LaunchFormat::systemd),
            "Environment=\"A=50%% \\\"x\\\" \\\\\"");
}

Profile make_direct_profile() {
  auto profile = make_launch_profile();
  GpuGroup eight{.ranks = 8};
  eight.direct = {{{1024, 16384}, "one-shot-ll", 20, 10, 2, 1.9, 2.1, 30},
                  {{16385, 65536}, "two-shot", 40, 20, 2, 1.9, 2.1, 30}};
  GpuGroup four{.ranks = 4};
  four.direct = {{{512, 512}, "one-shot-simple", 20, 10, 2, 1.9, 2.1, 30}};
  profile.environments[0].groups = {eight, four};
  return profile;
}

TEST(LaunchPlan, BringsTheDirectLayerInBothWaysForTheSizesOfTheProfile) {
  const auto profile = make_direct_profile();
  auto request = make_request(profile);
  request.direct_folder = "/opt/lanewise/lib";
  request.own = {{"LD_PRELOAD", "/opt/other.so"}};

  const auto plan = plan_launch(request);

  EXPECT_EQ(value_of(plan, "LANEWISE_DIRECT"),
            "8=1024:16384:one-shot-ll,8=16385:65536:two-shot,4=512:512:one-shot-simple");
  EXPECT_EQ(value_of(plan, "LD_PRELOAD"), "/opt/lanewise/lib/liblanewise-preload.so:/opt/other.so");
  EXPECT_EQ(value_of(plan, "VLLM_NCCL_SO_PATH"), "/opt/lanewise/lib/liblanewise-nccl.so");
  EXPECT_EQ(value_of(plan, "SGLANG_NCCL_SO_PATH"), "/opt/lanewise/lib/liblanewise-nccl.so");
}

TEST(LaunchPlan, LeavesTheDirectLayerOutUnlessItIsAskedFor) {
  const auto profile = make_direct_profile();

  const auto plan = plan_launch(make_request(profile));

  EXPECT_EQ(value_of(plan, "LANEWISE_DIRECT"), "not set");
  EXPECT_EQ(value_of(plan, "LD_PRELOAD"), "not set");
}

TEST(LaunchPlan, NeedsSizesForTheDirectLayerFromTheProfileOrTheUser) {
  const auto profile = make_launch_profile();
  auto request = make_request(profile);
  request.direct_folder = "/opt/lanewise/lib";

  EXPECT_THROW(static_cast<void>(plan_launch(request)), Error);
  request.own = {{"LANEWISE_DIRECT", "1:65536"}};
  const auto plan = plan_launch(request);

  EXPECT_EQ(value_of(plan, "LANEWISE_DIRECT"), "not set");
  EXPECT_EQ(value_of(plan, "LD_PRELOAD"), "/opt/lanewise/lib/liblanewise-preload.so");
}

TEST(LaunchPlan, KeepsTheLibraryThatAUserOpensInNcclsPlace) {
  const auto profile = make_direct_profile();
  auto request = make_request(profile);
  request.direct_folder = "/opt/lanewise/lib";
  request.own = {{"VLLM_NCCL_SO_PATH", "/mine.so"}};

  const auto plan = plan_launch(request);

  EXPECT_EQ(value_of(plan, "VLLM_NCCL_SO_PATH"), "not set");
  EXPECT_EQ(plan.remarks.back(),
            "VLLM_NCCL_SO_PATH=/mine.so is set already and kept: what opens it stays with NCCL");
}

}  // namespace
}  // namespace lanewise
