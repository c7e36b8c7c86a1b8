// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "launch.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "host/nccl/nccl_conf.hpp"
#include "host/nccl/plugin_library.hpp"
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
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr)
    own.emplace("LD_LIBRARY_PATH", path);
  return own;
}

std::optional<host::FoundProfile> find_profile(const host::Settings& settings,
                                               const std::string& asked_for) {
  return host::find_profile(asked_for.empty() ? settings.profile : asked_for,
                            fingerprint(read_machine({}, settings)), host::profile_folders());
}

std::string describe(const std::optional<host::FoundProfile>& found,
                     const host::Settings& settings) {
  if (settings.mode != host::Mode::apply)
    return "LANEWISE_MODE=" + std::string(name_of(settings.mode)) +
           ": NCCL keeps its own choices and its own environment";
  if (!found) return "no profile of this machine: choices by the wave model, stock's environment";
  return "profile " + found->path.string() + ", measured with NCCL " +
         to_string(found->profile.nccl);
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

}  // namespace

PreparedLaunch prepare_launch(const std::string& profile_option, LaunchTarget target) {
  PreparedLaunch launch;
  launch.plugin_folder = host::find_plugin_folder();
  LaunchRequest request;
  request.own = read_own(target);
  const auto settings = host::parse_settings(host::read_process_environment());
  if (target != LaunchTarget::container) request.plugin_folder = launch.plugin_folder;
  if (!profile_option.empty())
    request.profile_path = std::filesystem::absolute(profile_option).lexically_normal().string();
  const auto found = find_profile(settings, request.profile_path);
  if (found && settings.mode == host::Mode::apply) request.profile = &found->profile;
  if (found) launch.profile_path = found->path.string();
  // A container has no profile folder of ours and a unit does not inherit LANEWISE_PROFILE.
  if (target != LaunchTarget::child) request.profile_path = launch.profile_path;
  launch.plan = plan_launch(request);
  launch.files = find_files(launch, target);
  launch.plan.remarks.push_back(describe(found, settings));
  return launch;
}

void print_launch(const LaunchPlan& plan) {
  for (const auto& variable : plan.variables)
    std::fprintf(stderr, "lanewise: set %s=%s (%s)\n", variable.name.c_str(),
                 variable.value.c_str(), variable.reason.c_str());
  for (const auto& remark : plan.remarks) std::fprintf(stderr, "lanewise: %s\n", remark.c_str());
}

}  // namespace lanewise::cli
