// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "commands.hpp"
#include "launch.hpp"

namespace lanewise::cli {
namespace {

// Where the loaders of images look without being told: of Debian's kind, then of Red Hat's. The
// image's kind is not known here, and LD_LIBRARY_PATH would replace the image's own.
constexpr std::array container_folders = {"/usr/lib/", "/usr/lib64/"};

struct EnvOptions {
  LaunchOptions launch;
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
  for (const char* folder : container_folders)
    print_volume(launch.plugin_folder + "/" + file, folder + file);
  if (!launch.profile_path.empty()) print_volume(launch.profile_path, launch.profile_path);
  for (const auto& named : launch.files) print_volume(named, named);
}

void print_environment(EnvOptions& options) {
  const auto format = options.is_docker    ? LaunchFormat::docker
                      : options.is_systemd ? LaunchFormat::systemd
                                           : LaunchFormat::shell;
  const auto target = options.is_docker    ? LaunchTarget::container
                      : options.is_systemd ? LaunchTarget::unit
                                           : LaunchTarget::child;
  // What is started from this shell later is most likely its Python.
  options.launch.command = {"python3"};
  const auto launch = prepare_launch(options.launch, target);
  print_launch(launch.plan);
  for (const auto& variable : launch.plan.variables)
    std::printf("%s\n", format_variable(variable, format).c_str());
  if (options.is_docker) print_docker(launch);
}

}  // namespace

void add_env(CLI::App& app) {
  auto options = std::make_shared<EnvOptions>();
  auto* command = app.add_subcommand("env", "Print what `run` sets, as export lines");
  add_launch_options(*command, options->launch);
  auto* docker = command->add_flag("--docker", options->is_docker,
                                   "As arguments of docker run, with the files it needs");
  command->add_flag("--systemd", options->is_systemd, "As Environment= lines of a unit")
      ->excludes(docker);
  command->callback([options] { print_environment(*options); });
}

}  // namespace lanewise::cli
