// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "arms.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <utility>

#include "conf_file.hpp"
#include "core/error.hpp"
#include "core/profile/launch_plan.hpp"
#include "direct/size_ranges.hpp"
#include "environments/environment_options.hpp"
#include "gpu/nccl_library.hpp"
#include "host/process/settings.hpp"
#include "host/profile/profile_file.hpp"
#include "host/profile/profile_search.hpp"

namespace lanewise::bench {
namespace {

std::function<std::optional<Choice>(std::size_t)> always(std::optional<Choice> choice) {
  return [choice](std::size_t) { return choice; };
}

constexpr const char* lanewise_env = "lanewise-env";
constexpr const char* noop_env = "noop-env";
constexpr const char* direct_prefix = "direct:";
// What one slot set of pinned memory holds without being large, and more than a sweep captures.
constexpr const char* direct_sizes = "1:262144";
constexpr const char* direct_graphs = "512";

// Ranks whose NCCL is opened as PyNccl opens it: by the file that stands in for it.
ArmPlan plan_direct(const std::string& name, const std::string& sizes, const Machine& machine) {
  ArmPlan plan{name, environment_without_plugin(machine), ControlMode::stock, always(std::nullopt)};
  static_cast<void>(direct::parse_size_ranges(sizes));
  plan.variables["LANEWISE_DIRECT"] = sizes;
  plan.variables["LANEWISE_DIRECT_GRAPHS"] = direct_graphs;
  plan.variables[nccl_variable] = find_direct_library();
  return plan;
}

// What `lanewise run` would add to the ranks' variables: the profile's best environment, the base
// environment where there is no profile; empty where they have it already, or where they have one
// that contradicts every other.
Environment run_variables(const std::string& file, const Machine& machine) {
  LaunchRequest request;
  request.own = host::read_process_environment();
  for (const auto& [name, value] : environment_with_plugin(machine)) request.own[name] = value;
  request.release = machine.nccl;
  request.base = BaseCarrier::env_plugin;
  std::optional<Profile> profile;
  if (!file.empty()) profile = host::read_profile(file);
  if (profile) request.profile = &*profile;
  Environment added;
  for (const auto& variable : plan_launch(request).variables)
    added.emplace(variable.name, variable.value);
  return added;
}

ArmPlan plan_run(const std::string& name, const Machine& machine, const std::string& profile) {
  ArmPlan plan{name, environment_with_plugin(machine), ControlMode::settings, always(std::nullopt)};
  if (name == noop_env) plan.arm = ControlMode::stock;
  if (!profile.empty())
    plan.variables["LANEWISE_PROFILE"] = std::filesystem::absolute(profile).string();
  for (const auto& [variable, value] : run_variables(profile, machine))
    plan.variables[variable] = value;
  return plan;
}

ArmPlan plan_named(const std::string& name, const Machine& machine, const std::string& profile) {
  if (name == "lanewise-direct") return plan_direct(name, direct_sizes, machine);
  ArmPlan plan{name, environment_with_plugin(machine), ControlMode::settings, always(std::nullopt)};
  if (name == "stock") {
    plan.variables = environment_without_plugin(machine);
    plan.arm = ControlMode::stock;
  } else if (name == "noop") {
    plan.arm = ControlMode::stock;
  } else if (name == "lanewise") {
    if (profile.empty()) throw Error("the arm lanewise needs --profile FILE");
    plan.variables["LANEWISE_PROFILE"] = std::filesystem::absolute(profile).string();
  } else if (name != "lanewise-no-profile") {
    throw Error(
        "unknown arm \"" + name +
        "\": stock, noop, lanewise-no-profile, lanewise, lanewise-env, noop-env, lanewise-direct, "
        "direct:LO:HI[:FORM], env:NAME=VALUE, conf:FILE or a choice as in ring/ll/2");
  }
  return plan;
}

}  // namespace

void add_profile_option(CLI::App& command, std::string& profile) {
  command
      .add_option_function<std::string>(
          "--profile",
          [&profile](const std::string& given) {
            if (given != host::no_profile) profile = given;
          },
          "For the arms lanewise, lanewise-env and noop-env; LANEWISE_PROFILE where it is not "
          "given")
      ->envname("LANEWISE_PROFILE");
}

ArmPlan plan_arm(const std::string& name, const Machine& machine, const std::string& profile) {
  if (name.starts_with("env:")) {
    ArmPlan plan{name, environment_without_plugin(machine), ControlMode::stock,
                 always(std::nullopt)};
    for (const auto& [variable, value] : parse_variables(name.substr(4))) {
      plan.variables[variable] = value;
    }
    return plan;
  }
  if (name.starts_with(direct_prefix))
    return plan_direct(name, name.substr(std::string_view(direct_prefix).size()), machine);
  if (name.starts_with("conf:")) {
    const ConfFile file = read_conf_file(name.substr(5));
    return {name, environment_with_plugin(machine), ControlMode::stock,
            [file, ranks = machine.ranks](std::size_t bytes) { return file.find(bytes, ranks); }};
  }
  if (const auto choice = parse_choice(name)) {
    return {name, environment_with_plugin(machine), ControlMode::settings, always(choice)};
  }
  if (name == lanewise_env || name == noop_env) return plan_run(name, machine, profile);
  return plan_named(name, machine, profile);
}

std::vector<ArmPlan> plan_arms(std::vector<std::string> names,
                               const std::vector<std::string>& usual, const Machine& machine,
                               const std::string& profile) {
  if (names.empty()) {
    names = usual;
    // Ranks that somebody else has started have one environment, with the plugin.
    const bool is_joined = machine.kind == RankKind::joined;
    if (is_joined) std::erase(names, "stock");
    if (!profile.empty()) names.emplace_back("lanewise");
    if (!profile.empty() && !is_joined && !run_variables(profile, machine).empty())
      names.emplace_back(lanewise_env);
  }
  std::vector<ArmPlan> plans;
  for (const std::string& name : names) plans.push_back(plan_arm(name, machine, profile));
  return plans;
}

ArmSet start_arms(const std::vector<ArmPlan>& plans, const Machine& machine,
                  const RankOptions& options, DataType type, std::size_t max_bytes) {
  ArmSet arm_set;
  std::map<Environment, std::string> labels;
  for (const ArmPlan& plan : plans) {
    std::string& label = labels[plan.variables];
    label += (label.empty() ? "" : ", ") + plan.name;
  }
  if (machine.kind == RankKind::joined && labels.size() > 1) {
    throw Error("ranks of mpirun or torchrun have one environment, these arms need " +
                std::to_string(labels.size()) +
                ": noop, lanewise-no-profile and choices share one");
  }
  std::map<Environment, RankGroup*> started;
  for (const ArmPlan& plan : plans) {
    RankGroup*& rank_group = started[plan.variables];
    if (rank_group == nullptr) {
      arm_set.groups.push_back(open_rank_group(
          machine, options, {labels[plan.variables], plan.variables, type, max_bytes}));
      rank_group = arm_set.groups.back().get();
    }
    arm_set.arms.push_back({plan, rank_group});
  }
  return arm_set;
}

}  // namespace lanewise::bench
