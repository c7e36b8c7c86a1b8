// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/profile.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "commands.hpp"
#include "core/profile/environment_key.hpp"
#include "host/files/text_file.hpp"
#include "host/machine/topology_source.hpp"
#include "host/process/settings.hpp"
#include "host/process/standard_output.hpp"
#include "host/profile/profile_file.hpp"
#include "profile_convert.hpp"

namespace lanewise::cli {
namespace {

constexpr std::size_t bytes_per_kib = 1024;

std::string format_bytes(std::size_t bytes) {
  if (bytes % bytes_per_kib != 0) return std::to_string(bytes) + " B";
  return std::to_string(bytes / bytes_per_kib) + " KiB";
}

std::string format_variables(const Environment& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(value);
  }
  return text.empty() ? "stock's variables" : text;
}

void show_rule(const Rule& rule) {
  std::printf("    %12s  %12s  %-18s", format_bytes(rule.bytes.low).c_str(),
              format_bytes(rule.bytes.high).c_str(), to_string(rule.choice).c_str());
  if (rule.samples == 0)
    std::printf("  not measured\n");
  else
    std::printf("  %8.1f  %8.1f  %6.2fx  %.2f - %.2f  %7d\n", rule.stock_us, rule.us, rule.speedup,
                rule.ci95_low, rule.ci95_high, rule.samples);
}

void show_group(const GpuGroup& group) {
  std::string gpus;
  for (const int gpu : group.gpus) gpus += (gpus.empty() ? "" : ",") + std::to_string(gpu);
  std::printf("  %d ranks on %s%s\n", group.ranks,
              gpus.empty() ? "any GPUs" : ("GPUs " + gpus).c_str(),
              group.is_ll128_verified ? ", LL128 verified" : "");
  for (const std::size_t bytes : group.rules.stock_sizes())
    std::printf("    %12s  NCCL's own choice is as good\n", format_bytes(bytes).c_str());
  if (group.rules.rules().empty()) {
    std::printf("    no rules: the wave model decides at all other sizes\n");
    return;
  }
  std::printf("    %12s  %12s  %-18s  %8s  %8s  %7s  %-11s  %7s\n", "from", "to", "choice",
              "stock us", "us", "speedup", "95 %", "samples");
  for (const Rule& rule : group.rules.rules()) show_rule(rule);
}

void show(const std::string& path) {
  const auto profile = host::parse_profile(host::view_text_file(path), path);
  std::printf("machine  %s (%s)\n", profile.machine.c_str(), profile.fingerprint.c_str());
  std::printf("NCCL     %s\n", to_string(profile.nccl).c_str());
  std::printf("driver   %s\n", profile.driver.empty() ? "not recorded" : profile.driver.c_str());
  std::printf("created  %s\n", profile.created.c_str());
  for (std::size_t i = 0; i < profile.environments.size(); ++i) {
    const auto& environment = profile.environments[i];
    std::printf("\nenvironment %zu%s: %s\n", i, profile.best_environment == i ? " (best)" : "",
                format_variables(environment.variables).c_str());
    std::printf("  %.2fx stock in its own environment, %+lld MiB a rank\n", environment.speedup,
                environment.memory_bytes / static_cast<long long>(bytes_per_kib * bytes_per_kib));
    for (const auto& group : environment.groups) show_group(group);
  }
  for (const auto& environment : profile.environments)
    for (const auto& group : environment.groups)
      for (const auto& unsafe : group.unsafe)
        std::printf("\nunsafe: %s: %s\n", to_string(unsafe.choice).c_str(),
                    unsafe.evidence.c_str());
  for (const auto& setting : profile.unsafe)
    std::printf("\nunsafe: %s: %s\n", format_variables(setting.variables).c_str(),
                setting.evidence.c_str());
}

std::size_t count_rules(const Profile& profile) {
  std::size_t count = 0;
  for (const auto& environment : profile.environments)
    for (const auto& group : environment.groups) count += group.rules.rules().size();
  return count;
}

// Which of the profile's environments a process started from here would be in.
void say_environment(const Profile& profile, const Environment& process) {
  for (std::size_t i = 0; i < profile.environments.size(); ++i) {
    const auto compared =
        compare_environments(profile.environments[i].variables, process, profile.nccl);
    if (compared.count > 0)
      std::printf("environment %zu does not fit: %s\n", i, compared.text.c_str());
    else if (compared.most_channels)
      std::printf("environment %zu fits what is set here, up to %d channels\n", i,
                  *compared.most_channels);
    else
      std::printf("environment %zu fits what is set here\n", i);
  }
}

void check(const std::string& path) {
  const auto profile = host::read_profile(path);
  std::printf("%s: valid, %zu rules\n", path.c_str(), count_rules(profile));
  const auto process = host::read_process_environment();
  const auto machine = host::parse_settings(process).machine;
  const auto topology =
      machine.empty() ? host::read_topology() : host::read_topology(std::filesystem::path(machine));
  const auto here = fingerprint(topology);
  const bool fits = profile.fingerprint == here;
  if (fits)
    std::printf("made on this machine, for NCCL %s\n", to_string(profile.nccl).c_str());
  else
    std::printf("does not fit: made on machine %s (%s), this is %s\n", profile.fingerprint.c_str(),
                profile.machine.c_str(), here.c_str());
  say_environment(profile, process);
  if (fits) return;
  host::flush_standard_output();
  throw Exit{exit_failure};
}

void add_file_command(CLI::App& parent, const std::string& name, const std::string& description,
                      void (*act)(const std::string&)) {
  auto path = std::make_shared<std::string>();
  auto* command = parent.add_subcommand(name, description);
  command->add_option("file", *path, "The profile")->required()->type_name("FILE");
  command->callback([path, act] { act(*path); });
}

}  // namespace

void add_profile(CLI::App& app) {
  auto* command = app.add_subcommand("profile", "Show, check or convert a measured profile");
  command->require_subcommand(1);
  add_file_command(*command, "show", "Print a profile as tables", show);
  add_file_command(
      *command, "check",
      "Validate a profile and say whether it fits this machine (status 0; 1: it does not)", check);
  add_profile_convert(*command);
}

}  // namespace lanewise::cli
