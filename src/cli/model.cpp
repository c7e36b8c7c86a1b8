// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <array>
#include <bit>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "commands.hpp"
#include "core/error.hpp"
#include "core/model/fit.hpp"
#include "core/profile/environment_plan.hpp"
#include "host/files/text_file.hpp"
#include "host/nccl/nccl_environment.hpp"
#include "host/profile/profile_file.hpp"
#include "host/profile/sweep_csv.hpp"

namespace lanewise::cli {
namespace {

struct FitOptions {
  std::string sweep;
  std::string profile;
  std::string output;
  int ranks = 0;  // 0: of the only group
  std::size_t environment = 0;
};

void show_terms(const char* name, const LatencyTerms& terms) {
  std::printf("    %-12s", name);
  for (const double us : std::bit_cast<TermFactors>(terms)) std::printf("  %9.4f", us);
  std::printf("\n");
}

void show_fit(const MachineFit& fit) {
  std::printf("    fitted to %zu to %zu bytes on %d channels; Tree up to %zu\n", fit.smallest_bytes,
              fit.largest_bytes, fit.channels, fit.constants.largest_tree_bytes);
  std::printf("    %-12s", "us");
  for (const auto* term : {"base", "hop", "wave", "slice KiB", "fill KiB", "block", "KiB"})
    std::printf("  %9s", term);
  std::printf("\n");
  show_terms("tree/ll", fit.constants.tree_ll);
  show_terms("tree/simple", fit.constants.tree_simple);
  show_terms("ring/ll", fit.constants.ring_ll);
  show_terms("ring/simple", fit.constants.ring_simple);
}

void show_profile_fits(const std::string& path) {
  const auto profile = host::parse_profile(host::view_text_file(path), path);
  for (const auto& environment : profile.environments) {
    std::printf("%s\n", environment.variables.empty() ? "stock's variables"
                                                      : to_string(environment.variables).c_str());
    for (const auto& group : environment.groups) {
      std::printf("  %d ranks\n", group.ranks);
      if (group.fit)
        show_fit(*group.fit);
      else
        std::printf("    no fit: the model's own constants hold\n");
    }
  }
}

GpuGroup& find_fitted_group(Profile& profile, const FitOptions& options) {
  if (options.environment >= profile.environments.size())
    throw Error(options.profile, 0,
                "expected an environment below " + std::to_string(profile.environments.size()));
  auto& groups = profile.environments[options.environment].groups;
  if (options.ranks == 0 && groups.size() == 1) return groups.front();
  for (auto& group : groups)
    if (group.ranks == options.ranks) return group;
  throw Error(options.profile, 0, "expected --ranks of one of its groups");
}

// The communicator had as many channels as the sweep asked for at most.
MachineFit fit_sweep(const FitOptions& options, const Profile& profile, const GpuGroup& group) {
  const auto swept = host::parse_sweep_csv(host::view_text_file(options.sweep), options.sweep);
  const std::set<int> gpus(group.gpus.begin(), group.gpus.end());
  Communicator communicator{
      group.ranks, 0, profile.nccl,
      host::parse_nccl_limits(profile.environments[options.environment].variables),
      gpus.empty() ? GpuSharing::one_rank_a_gpu
                   : sharing_of(group.ranks, static_cast<int>(gpus.size()))};
  for (const auto& time : swept)
    communicator.channels = std::max(communicator.channels, time.choice.channels);
  std::vector<MeasuredTime> times;
  for (const auto& time : swept) times.push_back({time.choice, time.bytes, communicator, time.us});
  try {
    return fit_machine(times);
  } catch (const Error& error) {
    throw Error(options.sweep, 0, error.what());
  }
}

void fit_profile(const FitOptions& options) {
  auto profile = host::parse_profile(host::read_text_file(options.profile), options.profile);
  GpuGroup& group = find_fitted_group(profile, options);
  group.fit = fit_sweep(options, profile, group);
  show_fit(*group.fit);
  host::write_profile(options.output.empty() ? options.profile : options.output, profile);
}

}  // namespace

void add_model(CLI::App& app) {
  auto* command = app.add_subcommand("model", "The wave model's constants in a profile");
  command->require_subcommand(1);
  auto path = std::make_shared<std::string>();
  auto* show_command = command->add_subcommand("show", "Print them as tables");
  show_command->add_option("file", *path, "The profile")->required()->type_name("FILE");
  show_command->callback([path] { show_profile_fits(*path); });
  auto options = std::make_shared<FitOptions>();
  auto* fit_command = command->add_subcommand("fit", "Fit them to a sweep, into a profile");
  fit_command->add_option("sweep", options->sweep, "What `lanewise-bench sweep --csv` wrote")
      ->required()
      ->type_name("CSV");
  fit_command->add_option("profile", options->profile, "The profile that takes the fit")
      ->required()
      ->type_name("FILE");
  fit_command->add_option("-o,--output", options->output, "Write here, not into the profile")
      ->type_name("FILE");
  fit_command->add_option("--ranks", options->ranks, "For which group of the profile");
  fit_command->add_option("--environment", options->environment,
                          "For which environment of the profile, from 0");
  fit_command->callback([options] { fit_profile(*options); });
}

}  // namespace lanewise::cli
