// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/profile.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/profile/environment_key.hpp"

namespace lanewise {
namespace {

std::size_t count_differences(const Environment& a, const Environment& b) {
  const auto missing = [](const Environment& from, const Environment& in) {
    return static_cast<std::size_t>(
        std::count_if(from.begin(), from.end(), [&in](const auto& variable) {
          const auto found = in.find(variable.first);
          return found == in.end() || found->second != variable.second;
        }));
  };
  return std::max(missing(a, b), missing(b, a));
}

// The environment with the fewest differences; an equal one has none.
const TunedEnvironment* find_nearest(const Profile& profile, const Environment& here) {
  const TunedEnvironment* nearest = nullptr;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const auto& environment : profile.environments) {
    const auto differences = count_differences(keyed_part(environment.variables), here);
    if (differences >= fewest) continue;
    nearest = &environment;
    fewest = differences;
  }
  return nearest;
}

std::string list_ranks(const TunedEnvironment& environment) {
  std::vector<int> ranks;
  for (const auto& group : environment.groups) ranks.push_back(group.ranks);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text;
  for (const int count : ranks) text += (text.empty() ? "" : ", ") + std::to_string(count);
  return text.empty() ? "no" : text;
}

std::string list_gpus(const std::vector<int>& gpus) {
  std::string text;
  for (const int gpu : gpus) text += (text.empty() ? "" : ",") + std::to_string(gpu);
  return text;
}

ProfileMatch find_group(const TunedEnvironment& environment, const ProfileKey& key) {
  const GpuGroup* any = nullptr;
  std::string measured;
  for (const auto& group : environment.groups) {
    if (group.ranks != key.ranks) continue;
    if (group.gpus.empty()) {
      any = &group;
    } else if (group.gpus == key.gpus) {
      return {&group, {}};
    } else {
      measured += (measured.empty() ? "" : " or ") + list_gpus(group.gpus);
    }
  }
  if (any != nullptr) return {any, {}};
  const std::string ranks = std::to_string(key.ranks);
  if (measured.empty())
    return {nullptr, "measured for " + list_ranks(environment) + " ranks, here are " + ranks};
  const std::string here =
      key.gpus.empty() ? "which GPUs these are is not known" : "here on " + list_gpus(key.gpus);
  return {nullptr, ranks + " ranks were measured on GPUs " + measured + ", " + here};
}

}  // namespace

EnvironmentMatch match_environment(const Profile& profile, const Environment& here) {
  const Environment keyed = keyed_part(here);
  const auto* nearest = find_nearest(profile, keyed);
  if (nearest == nullptr) return {};
  return {nearest, describe_difference(keyed_part(nearest->variables), keyed)};
}

ProfileMatch match(const Profile& profile, const ProfileKey& key) {
  if (profile.fingerprint != key.fingerprint)
    return {nullptr, "made on machine " + profile.fingerprint +
                         (profile.machine.empty() ? "" : " (" + profile.machine + ')') +
                         ", this is " + (key.fingerprint.empty() ? "unknown" : key.fingerprint)};
  if (profile.nccl != key.nccl)
    return {nullptr,
            "made with NCCL " + to_string(profile.nccl) + ", here is NCCL " + to_string(key.nccl)};
  const auto matched = match_environment(profile, key.environment);
  if (matched.nearest == nullptr) return {nullptr, "nothing was measured"};
  if (!matched.difference.empty())
    return {nullptr, "measured in another environment: " + matched.difference};
  return find_group(*matched.nearest, key);
}

}  // namespace lanewise
