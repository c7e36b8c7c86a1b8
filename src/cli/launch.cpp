// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "launch.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "host/nccl_conf.hpp"
#include "host/plugin_library.hpp"
#include "host/profile_file.hpp"
#include "host/settings.hpp"

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

}  // namespace

PreparedLaunch prepare_launch(const std::string& profile_option, LaunchTarget target) {
  PreparedLaunch launch;
  launch.plugin_folder = host::find_plugin_folder();
  LaunchRequest request;
  request.own = read_own(target);
  const auto settings = host::parse_settings(request.own);
  if (target != LaunchTarget::container) request.plugin_folder = launch.plugin_folder;
  std::optional<Profile> profile;
  if (!profile_option.empty()) {
    launch.profile_path = std::filesystem::absolute(profile_option).lexically_normal().string();
    profile = host::read_profile(launch.profile_path);
    request.profile_path = launch.profile_path;
  }
  if (profile && settings.mode == host::Mode::apply) request.profile = &*profile;
  launch.plan = plan_launch(request);
  if (settings.mode != host::Mode::apply)
    launch.plan.remarks.push_back("LANEWISE_MODE=" + std::string(name_of(settings.mode)) +
                                  ": NCCL keeps its own choices and its own environment");
  return launch;
}

void print_launch(const LaunchPlan& plan) {
  for (const auto& variable : plan.variables)
    std::fprintf(stderr, "lanewise: set %s=%s (%s)\n", variable.name.c_str(),
                 variable.value.c_str(), variable.reason.c_str());
  for (const auto& remark : plan.remarks) std::fprintf(stderr, "lanewise: %s\n", remark.c_str());
}

}  // namespace lanewise::cli
