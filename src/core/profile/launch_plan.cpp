// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/launch_plan.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/profile/base_environment.hpp"
#include "core/profile/environment_plan.hpp"

namespace lanewise {
namespace {

std::string_view file_name_of(std::string_view path) noexcept {
  return path.substr(path.find_last_of('/') + 1);
}

bool holds_entry(std::string_view list, std::string_view folder) {
  while (!list.empty()) {
    const auto end = std::min(list.find_first_of(":;"), list.size());
    if (list.substr(0, end) == folder) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// The user's entries stay in front: their libraries must win over anything in our folder, but for
// another copy of the plugin.
void add_loader_path(const LaunchRequest& request, LaunchPlan& plan) {
  const auto& folder = request.plugin_folder;
  if (folder.empty()) return;
  // The loader splits at both signs and expands $ORIGIN.
  if (folder.find_first_of(":;$") != std::string::npos)
    throw Error("LD_LIBRARY_PATH cannot hold the plugin's folder \"" + folder +
                "\": expected no ':', ';' or '$' in it");
  const auto own = request.own.find("LD_LIBRARY_PATH");
  if (own == request.own.end() || own->second.empty()) {
    plan.variables.push_back({"LD_LIBRARY_PATH", folder, "where the plugin is"});
  } else if (!request.other_copies.empty()) {
    plan.variables.push_back({"LD_LIBRARY_PATH", folder + ":" + own->second,
                              "yours, with the plugin's folder before another copy's"});
    for (const auto& copy : request.other_copies)
      plan.remarks.push_back("LD_LIBRARY_PATH: " + copy +
                             " holds another copy of the plugin, which is not the one in use");
  } else if (!holds_entry(own->second, folder)) {
    plan.variables.push_back({"LD_LIBRARY_PATH", own->second + ":" + folder,
                              "yours, with the plugin's folder at its end"});
  }
}

bool is_tuner_ours(const LaunchRequest& request, LaunchPlan& plan) {
  const auto own = request.own.find("NCCL_TUNER_PLUGIN");
  if (own == request.own.end()) {
    plan.variables.push_back(
        {"NCCL_TUNER_PLUGIN", std::string(plugin_name), "NCCL asks Lanewise for each call"});
    return true;
  }
  plan.remarks.push_back("NCCL_TUNER_PLUGIN=" + own->second + " is set already and kept");
  if (!request.tuner_remark.empty())
    plan.remarks.push_back("NCCL_TUNER_PLUGIN: the plugin named " + request.tuner_remark);
  if (names_plugin(own->second) && request.is_tuner_there) return true;
  if (!request.is_tuner_there) {
    plan.remarks.emplace_back(
        "so NCCL loads no tuner, and its environment is not applied: unset NCCL_TUNER_PLUGIN");
    return false;
  }
  plan.remarks.emplace_back(
      "that is not Lanewise, so its choices are not in force and its environment is not applied");
  return false;
}

void add_profile_path(const LaunchRequest& request, LaunchPlan& plan) {
  if (request.profile_path.empty()) return;
  const auto own = request.own.find("LANEWISE_PROFILE");
  if (own == request.own.end()) {
    plan.variables.push_back({"LANEWISE_PROFILE", request.profile_path, "as you asked"});
  } else if (own->second != request.profile_path) {
    throw Error("the profile " + request.profile_path +
                " contradicts LANEWISE_PROFILE=" + own->second + ": expected one of the two");
  }
}

// The env plugin answers each communicator with a value of its own; it is the same library as the
// tuner.
bool name_env_plugin(const LaunchRequest& request, LaunchPlan& plan) {
  if (request.base != BaseCarrier::env_plugin || request.own.contains("NCCL_ENV_PLUGIN") ||
      !request.release || !has_base_of_each_communicator(*request.release))
    return false;
  const auto tuner = request.own.find("NCCL_TUNER_PLUGIN");
  plan.variables.push_back(
      {"NCCL_ENV_PLUGIN", tuner == request.own.end() ? std::string(plugin_name) : tuner->second,
       "NCCL keeps the channels that Lanewise chooses from, in each communicator"});
  return true;
}

// Where one variable of it is the user's, all of it is.
void add_base_environment(const LaunchRequest& request, LaunchPlan& plan) {
  const auto base = base_environment(request.release);
  for (const auto& [name, value] : base) {
    const auto own = request.own.find(name);
    if (own == request.own.end()) continue;
    plan.remarks.push_back(name + "=" + own->second + " is set already and kept");
    return;
  }
  if (name_env_plugin(request, plan)) return;
  for (const auto& [name, value] : base)
    plan.variables.push_back({name, value, "NCCL keeps the channels that Lanewise chooses from"});
  plan.has_base_environment = !base.empty();
}

// Whether one is applied.
bool add_measured_environment(const LaunchRequest& request, LaunchPlan& plan) {
  if (request.profile == nullptr) return false;
  const auto environment = plan_environment(*request.profile, request.own);
  if (!environment.remark.empty()) plan.remarks.push_back(environment.remark);
  if (!environment.limit.empty()) plan.remarks.push_back(environment.limit);
  if (environment.environment == nullptr) return false;
  const auto evidence = describe_measurement(*environment.environment);
  for (const auto& [name, value] : environment.additions)
    plan.variables.push_back({name, value, evidence});
  for (const auto& [name, value] : environment.environment->variables)
    if (!environment.additions.contains(name))
      plan.remarks.push_back(name + "=" + value + " is set already and kept");
  return true;
}

bool is_base_unsafe(const LaunchRequest& request) {
  if (request.profile == nullptr) return false;
  auto all = request.own;
  all.merge(base_environment(request.release));
  return is_unsafe(*request.profile, all);
}

void add_environment(const LaunchRequest& request, LaunchPlan& plan) {
  if (request.environment == EnvironmentUse::leave) return;
  if (add_measured_environment(request, plan) || is_base_unsafe(request)) return;
  add_base_environment(request, plan);
}

// Where people look before the server's own log hides it.
void add_refusal(const LaunchRequest& request, LaunchPlan& plan) {
  if (request.profile == nullptr) return;
  Environment joined = request.own;
  for (const auto& variable : plan.variables) joined.emplace(variable.name, variable.value);
  const auto matched = match_environment(*request.profile, joined);
  if (matched.difference.empty()) return;
  plan.remarks.push_back(
      "the profile's choices are not used: they were measured in another "
      "environment: " +
      matched.difference);
}

// The environment that the process will have: the one planned, or the one it has.
const TunedEnvironment* environment_in_force(const LaunchRequest& request) {
  if (request.profile == nullptr) return nullptr;
  const auto planned = plan_environment(*request.profile, request.own);
  if (planned.environment != nullptr) return planned.environment;
  const auto here = match_environment(*request.profile, request.own);
  return here.difference.empty() ? here.nearest : nullptr;
}

// As LANEWISE_DIRECT says it. A library knows how many ranks there are and not which GPUs, so of
// groups of so many ranks the first one counts.
std::string direct_sizes(const TunedEnvironment* environment) {
  std::string text;
  std::vector<int> seen;
  if (environment == nullptr) return text;
  for (const auto& group : environment->groups) {
    if (std::find(seen.begin(), seen.end(), group.ranks) != seen.end()) continue;
    seen.push_back(group.ranks);
    for (const auto& range : group.direct)
      text += (text.empty() ? "" : ",") + std::to_string(group.ranks) + "=" +
              std::to_string(range.bytes.low) + ":" + std::to_string(range.bytes.high) + ":" +
              range.form;
  }
  return text;
}

void add_direct_sizes(const LaunchRequest& request, LaunchPlan& plan) {
  const auto own = request.own.find("LANEWISE_DIRECT");
  if (own != request.own.end() && !own->second.empty()) {
    plan.remarks.push_back("LANEWISE_DIRECT=" + own->second + " is set already and kept");
    return;
  }
  const auto sizes = direct_sizes(environment_in_force(request));
  if (sizes.empty())
    throw Error(
        "--direct: expected a profile that holds direct sizes for this machine and environment, or "
        "LANEWISE_DIRECT=LO:HI");
  plan.variables.push_back({"LANEWISE_DIRECT", sizes, "sizes measured faster than NCCL's best"});
}

void add_direct_library(const LaunchRequest& request, std::string_view variable,
                        std::string_view file, const char* reason, LaunchPlan& plan) {
  const auto path = request.direct_folder + "/" + std::string(file);
  const auto own = request.own.find(std::string(variable));
  const bool is_set = own != request.own.end() && !own->second.empty();
  if (variable == "LD_PRELOAD") {
    // The loader splits at both.
    if (path.find_first_of(": ") != std::string::npos)
      throw Error("LD_PRELOAD cannot hold \"" + path + "\": expected no ':' or ' ' in it");
    plan.variables.push_back(
        {std::string(variable), is_set ? path + ":" + own->second : path, reason});
  } else if (is_set) {
    plan.remarks.push_back(own->first + "=" + own->second +
                           " is set already and kept: what opens it stays with NCCL");
  } else {
    plan.variables.push_back({std::string(variable), path, reason});
  }
}

void add_direct(const LaunchRequest& request, LaunchPlan& plan) {
  if (request.direct_folder.empty()) return;
  add_direct_sizes(request, plan);
  add_direct_library(request, "LD_PRELOAD", direct_preload_name, "all-reduces of torch.distributed",
                     plan);
  add_direct_library(request, "VLLM_NCCL_SO_PATH", direct_nccl_name, "all-reduces of vLLM's PyNccl",
                     plan);
  add_direct_library(request, "SGLANG_NCCL_SO_PATH", direct_nccl_name,
                     "all-reduces of SGLang's PyNccl", plan);
}

std::string escape_for_systemd(std::string_view text) {
  std::string escaped;
  for (const char sign : text) {
    if (sign == '"' || sign == '\\') escaped += '\\';
    if (sign == '%') escaped += '%';
    escaped += sign;
  }
  return escaped;
}

}  // namespace

bool names_plugin(std::string_view value) noexcept {
  return value == plugin_name || file_name_of(value) == plugin_file_name;
}

LaunchPlan plan_launch(const LaunchRequest& request) {
  LaunchPlan plan;
  const bool is_ours = is_tuner_ours(request, plan);
  add_loader_path(request, plan);
  add_profile_path(request, plan);
  if (is_ours) {
    add_environment(request, plan);
    add_refusal(request, plan);
  }
  add_direct(request, plan);
  return plan;
}

std::string format_variable(const LaunchVariable& variable, LaunchFormat format) {
  const auto assignment = variable.name + "=" + variable.value;
  switch (format) {
    case LaunchFormat::docker:
      return "-e " + quote_for_shell(assignment);
    case LaunchFormat::systemd:
      return "Environment=\"" + escape_for_systemd(assignment) + "\"";
    case LaunchFormat::shell:
      break;
  }
  return "export " + variable.name + "=" + quote_for_shell(variable.value);
}

std::string quote_for_shell(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char sign : text) {
    if (sign == '\'')
      quoted += "'\\''";
    else
      quoted += sign;
  }
  return quoted + "'";
}

}  // namespace lanewise
