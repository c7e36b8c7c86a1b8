// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cstdio>
#include <memory>
#include <string>

#include "commands.hpp"
#include "launch.hpp"

namespace lanewise::cli {
namespace {

// A folder that the loader of every glibc image looks into without being told.
constexpr const char* container_folder = "/usr/lib/";

struct EnvOptions {
  std::string profile;
  bool is_docker = false;
  bool is_systemd = false;
};

// A field of --mount, which is a line of CSV.
std::string quote_field(const std::string& field) {
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char sign : field) quoted.append(sign == '"' ? 2 : 1, sign);
  return quoted + '"';
}

// -v splits at ':', which a path may hold.
void print_volume(const std::string& from, const std::string& to) {
  if ((from + to).find(':') == std::string::npos) {
    std::printf("-v %s\n", quote_for_shell(from + ":" + to + ":ro").c_str());
    return;
  }
  const auto mount = "type=bind," + quote_field("source=" + from) + "," +
                     quote_field("target=" + to) + ",readonly";
  std::printf("--mount %s\n", quote_for_shell(mount).c_str());
}

void print_docker(const PreparedLaunch& launch) {
  const std::string file(plugin_file_name);
  print_volume(launch.plugin_folder + "/" + file, container_folder + file);
  if (!launch.profile_path.empty()) print_volume(launch.profile_path, launch.profile_path);
  for (const auto& named : launch.files) print_volume(named, named);
}

void print_environment(const EnvOptions& options) {
  const auto format = options.is_docker    ? LaunchFormat::docker
                      : options.is_systemd ? LaunchFormat::systemd
                                           : LaunchFormat::shell;
  const auto target = options.is_docker    ? LaunchTarget::container
                      : options.is_systemd ? LaunchTarget::unit
                                           : LaunchTarget::child;
  const auto launch = prepare_launch(options.profile, target);
  print_launch(launch.plan);
  for (const auto& variable : launch.plan.variables)
    std::printf("%s\n", format_variable(variable, format).c_str());
  if (options.is_docker) print_docker(launch);
}

}  // namespace

void add_env(CLI::App& app) {
  auto options = std::make_shared<EnvOptions>();
  auto* command = app.add_subcommand("env", "Print what `run` sets, as export lines");
  command->add_option("--profile", options->profile, "The profile to apply")->type_name("FILE");
  auto* docker = command->add_flag("--docker", options->is_docker,
                                   "As arguments of docker run, with the files it needs");
  command->add_flag("--systemd", options->is_systemd, "As Environment= lines of a unit")
      ->excludes(docker);
  command->callback([options] { print_environment(*options); });
}

}  // namespace lanewise::cli
