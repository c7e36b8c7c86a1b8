// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "launch.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "host/nccl/nccl_conf.hpp"
#include "host/nccl/plugin_library.hpp"
#include "host/nccl/server_nccl.hpp"
#include "host/process/settings.hpp"
#include "host/profile/launch_files.hpp"
#include "host/profile/profile_search.hpp"
#include "machine.hpp"

namespace lanewise::cli {
namespace {

Environment read_own(LaunchTarget target) {
  if (target != LaunchTarget::child) return {};
  auto own = host::read_process_environment();
  own.merge(host::read_nccl_conf(own));
  for (const char* name :
       {"LD_LIBRARY_PATH", "LD_PRELOAD", "VLLM_NCCL_SO_PATH", "SGLANG_NCCL_SO_PATH"}) {
    if (const char* value = std::getenv(name); value != nullptr) own.emplace(name, value);
  }
  return own;
}

// What is known of the server's NCCL before it runs; `from` says how, for people.
struct KnownNccl {
  NcclRelease release;
  std::string from;
};

std::optional<KnownNccl> find_nccl(const LaunchOptions& options, LaunchTarget target) {
  if (!options.nccl.empty()) {
    const auto release = parse_nccl_release(options.nccl);
    if (!release) throw Error("--nccl " + options.nccl + ": expected a release such as 2.30.7");
    return KnownNccl{*release, "--nccl"};
  }
  // A container and a unit start with files and variables of their own.
  if (target != LaunchTarget::child) return std::nullopt;
  const auto found = host::find_server_nccl({options.command, host::read_server_environment()},
                                            host::loader_folders());
  if (!found) return std::nullopt;
  return KnownNccl{found->release, found->library.string()};
}

std::optional<host::FoundProfile> find_profile(const host::Settings& settings,
                                               const std::string& asked,
                                               const std::optional<KnownNccl>& nccl) {
  return host::find_profile(asked, fingerprint(read_machine({}, settings)), host::profile_folders(),
                            nccl ? std::optional(nccl->release) : std::nullopt);
}

bool is_measured_with(const host::FoundProfile& found, const std::optional<KnownNccl>& nccl) {
  return !nccl || nccl->release == found.profile.nccl;
}

std::string describe(const std::optional<host::FoundProfile>& found, const host::Settings& settings,
                     const std::string& asked, const std::optional<KnownNccl>& nccl) {
  if (settings.mode != host::Mode::apply)
    return "LANEWISE_MODE=" + std::string(name_of(settings.mode)) +
           ": NCCL keeps its own choices and its own environment";
  if (asked == host::no_profile) return "no profile, as you asked: choices by the wave model";
  if (!found) return "no profile of this machine: choices by the wave model";
  const auto measured =
      "profile " + found->path.string() + ", measured with NCCL " + to_string(found->profile.nccl);
  if (is_measured_with(*found, nccl)) return measured;
  return measured + ", is not applied: the server has NCCL " + to_string(nccl->release) + " (" +
         nccl->from + "); tune with that one, or correct it with --nccl RELEASE";
}

// Settings of this shell count in the container or the unit as well; a child inherits them.
void pass_settings_on(LaunchTarget target, PreparedLaunch& launch) {
  if (target == LaunchTarget::child) return;
  for (const auto& setting : host::setting_descriptions()) {
    const std::string name(setting.name);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0' || name == "LANEWISE_PROFILE") continue;
    std::string text = value;
    if (name == "LANEWISE_MACHINE") {
      text = std::filesystem::absolute(text).lexically_normal().string();
      launch.files.push_back(text);
    }
    launch.plan.variables.push_back({name, text, "as it is set here"});
  }
}

// A container or a unit starts in a folder of its own.
void require_file(const LaunchVariable& variable, const std::string& profile, LaunchTarget target) {
  const std::filesystem::path file(variable.value);
  const bool is_usable = target == LaunchTarget::child || file.is_absolute();
  if (is_usable && host::has_file(variable)) return;
  throw Error(profile + ": " + variable.name + "=" + variable.value + ": expected a file" +
              (is_usable ? " that is there" : " by its absolute path"));
}

std::vector<std::string> find_files(const PreparedLaunch& launch, LaunchTarget target) {
  std::vector<std::string> files;
  for (const auto& variable : host::file_variables(launch.plan)) {
    require_file(variable, launch.profile_path, target);
    files.push_back(variable.value);
  }
  return files;
}

// What the plan needs to know of the files that `own` names.
void look_at_files(LaunchRequest& request, const std::filesystem::path& plugin_folder) {
  const auto tuner = request.own.find("NCCL_TUNER_PLUGIN");
  if (tuner != request.own.end() && names_plugin(tuner->second)) {
    const auto named = host::check_plugin_path(tuner->second, plugin_folder);
    request.is_tuner_there = named.is_there;
    request.tuner_remark = named.remark;
  }
  const auto loader = request.own.find("LD_LIBRARY_PATH");
  if (loader != request.own.end())
    request.other_copies = host::copies_before(loader->second, plugin_folder);
}

// "none" is LANEWISE_PROFILE's word for no profile and the option's, too.
std::string path_of(const std::string& profile_option) {
  if (profile_option.empty() || profile_option == host::no_profile) return profile_option;
  return std::filesystem::absolute(profile_option).lexically_normal().string();
}

}  // namespace

void add_launch_options(CLI::App& command, LaunchOptions& options) {
  command.add_option("--profile", options.profile, "The profile to apply")->type_name("FILE");
  command
      .add_option(
          "--nccl", options.nccl,
          "The NCCL that the server loads; without it, that of the Python it is started with")
      ->type_name("RELEASE");
  command.add_flag("--direct", options.is_direct,
                   "Take all-reduces of the sizes that the profile names from NCCL");
}

namespace {

// A container or a unit is given the user's LANEWISE_DIRECT with the other settings.
void ask_for_direct(LaunchRequest& request, PreparedLaunch& launch) {
  request.direct_folder = host::find_direct_folder(launch.plugin_folder);
  if (const char* sizes = std::getenv("LANEWISE_DIRECT"); sizes != nullptr)
    request.own.emplace("LANEWISE_DIRECT", sizes);
  for (const auto file : {direct_preload_name, direct_nccl_name})
    launch.files.push_back(request.direct_folder + "/" + std::string(file));
}

}  // namespace

PreparedLaunch prepare_launch(const LaunchOptions& options, LaunchTarget target) {
  PreparedLaunch launch;
  launch.plugin_folder = host::find_plugin_folder();
  LaunchRequest request;
  request.own = read_own(target);
  // A child's NCCL sets what its configuration files hold before it loads the plugin.
  const bool is_child = target == LaunchTarget::child;
  const auto settings =
      host::parse_settings(is_child ? request.own : host::read_process_environment());
  if (target != LaunchTarget::container) request.plugin_folder = launch.plugin_folder;
  look_at_files(request, launch.plugin_folder);
  request.profile_path = path_of(options.profile);
  const std::string asked = request.profile_path.empty() ? settings.profile : request.profile_path;
  const auto nccl = find_nccl(options, target);
  if (nccl) request.release = nccl->release;
  const auto found = find_profile(settings, asked, nccl);
  if (settings.mode != host::Mode::apply) request.environment = EnvironmentUse::leave;
  // A container may have the one file, under the tuner's name alone.
  const auto env_plugin = std::filesystem::path(launch.plugin_folder) / env_plugin_file_name;
  if (target != LaunchTarget::container && std::filesystem::exists(env_plugin))
    request.base = BaseCarrier::env_plugin;
  if (found && settings.mode == host::Mode::apply && is_measured_with(*found, nccl))
    request.profile = &found->profile;
  if (found) launch.profile_path = found->path.string();
  // A container has no profile folder of ours and a unit does not inherit LANEWISE_PROFILE.
  if (target != LaunchTarget::child)
    request.profile_path = found ? launch.profile_path : asked == host::no_profile ? asked : "";
  if (options.is_direct) ask_for_direct(request, launch);
  launch.plan = plan_launch(request);
  for (const auto& file : find_files(launch, target)) launch.files.push_back(file);
  pass_settings_on(target, launch);
  for (const auto& line : settings.unknown_names) launch.plan.remarks.push_back(line);
  launch.plan.remarks.push_back(describe(found, settings, asked, nccl));
  return launch;
}

void print_launch(const LaunchPlan& plan) {
  for (const auto& variable : plan.variables)
    std::fprintf(stderr, "lanewise: set %s=%s (%s)\n", variable.name.c_str(),
                 variable.value.c_str(), variable.reason.c_str());
  for (const auto& remark : plan.remarks) std::fprintf(stderr, "lanewise: %s\n", remark.c_str());
}

}  // namespace lanewise::cli
