// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/profile/environment_key.hpp"
#include "doctor/checks.hpp"
#include "host/profile/profile_search.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind missing = {
    .name = "profile-missing",
    .severity = Severity::note,
    .title = "There is no profile of this machine (fingerprint {fingerprint})",
    .why =
        "The plugin then chooses by its model alone and starts servers in NCCL's own "
        "environment. A profile is measured in about a minute.",
    .fix =
        "lanewise-bench tune    # then copy lanewise-profile.json to "
        "/etc/lanewise/profiles/{fingerprint}.json",
    .undo = "remove the file"};

constexpr FindingKind unusable = {
    .name = "profile-unusable",
    .severity = Severity::slow,
    .title = "The profile cannot be used: {reason}",
    .why =
        "A profile of another machine or with a fault is refused whole: the plugin stands "
        "aside.",
    .fix = "lanewise-bench tune    # on this machine; or unset LANEWISE_PROFILE",
    .undo = ""};

constexpr FindingKind other_release = {
    .name = "profile-other-release",
    .severity = Severity::slow,
    .title = "The profile was measured with NCCL {measured}, here it is {release}",
    .why = "Its rules are refused: what NCCL does by itself changes between releases.",
    .fix = "lanewise-bench tune    # with this NCCL",
    .undo = ""};

constexpr FindingKind other_environment = {
    .name = "profile-other-environment",
    .severity = Severity::slow,
    .title = "The profile was not measured in this environment: {difference}",
    .why =
        "Its rules are refused there. SGLang sets NCCL_GRAPH_REGISTER=0 by itself where CUDA "
        "graphs are on.",
    .fix =
        "lanewise run -- COMMAND    # starts it as it was measured; or measure in the server's "
        "environment: NAME=VALUE lanewise-bench tune",
    .undo = ""};

constexpr FindingKind in_use = {
    .name = "profile-fits",
    .severity = Severity::note,
    .title = "The profile {path} fits: its best environment is {gain} times stock",
    .why =
        "The gain is the geometric mean over the sizes that were tuned, as measured on this "
        "machine.",
    .fix = "none needed",
    .undo = ""};

constexpr std::array kinds = {missing, unusable, other_release, other_environment, in_use};

std::vector<std::filesystem::path> folders_of(const Inspection& inspection) {
  std::vector<std::filesystem::path> folders;
  for (const auto& folder : profile_folders())
    folders.push_back(inspection.process_files.at(folder.string()));
  return folders;
}

double best_gain(const Profile& profile) {
  if (profile.best_environment && *profile.best_environment < profile.environments.size())
    return profile.environments[*profile.best_environment].speedup;
  double best = 1;
  for (const auto& environment : profile.environments) best = std::max(best, environment.speedup);
  return best;
}

void judge(const Inspection& inspection, const FoundProfile& found, Report& report) {
  const auto path = found.path.string();
  const auto& measured = found.profile.nccl;
  if (inspection.nccl && *inspection.nccl != measured) {
    report.findings.push_back(
        make_finding(other_release,
                     {{"measured", to_string(measured)}, {"release", to_string(*inspection.nccl)}},
                     {{path, "nccl " + to_string(measured)}}));
    return;
  }
  Environment here = inspection.environment();
  std::erase_if(here, [](const auto& variable) { return !variable.first.starts_with("NCCL_"); });
  const auto match = match_environment(found.profile, here);
  if (!match.difference.empty()) {
    report.findings.push_back(make_finding(other_environment, {{"difference", match.difference}},
                                           {{path, match.difference}}));
    return;
  }
  report.findings.push_back(make_finding(
      in_use, {{"path", path}, {"gain", fixed(best_gain(found.profile), 2)}}, {{path, "fits"}}));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus()) return;
  const auto key = fingerprint(inspection.topology);
  const auto named = inspection.value_of("LANEWISE_PROFILE");
  try {
    std::filesystem::path path = named;
    if (path.is_absolute()) path = inspection.process_files.at(named);
    const auto found = find_profile(path, key, folders_of(inspection), inspection.nccl);
    if (found) return judge(inspection, *found, report);
    if (named != no_profile)
      report.findings.push_back(
          make_finding(missing, {{"fingerprint", key}}, {{"/etc/lanewise/profiles", "none fits"}}));
  } catch (const Error& error) {
    report.findings.push_back(
        make_finding(unusable, {{"reason", error.what()}},
                     {{named.empty() ? "/etc/lanewise/profiles" : "LANEWISE_PROFILE",
                       named.empty() ? "refused" : named}}));
  }
}

}  // namespace

const Check profile_check = {"profile", kinds, run};

}  // namespace lanewise::host
