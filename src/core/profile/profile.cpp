// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/profile.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/profile/environment_key.hpp"

namespace lanewise {
namespace {

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
      return {.group = &group};
    } else {
      measured += (measured.empty() ? "" : " or ") + list_gpus(group.gpus);
    }
  }
  if (any != nullptr) return {.group = any};
  const std::string ranks = std::to_string(key.ranks);
  if (measured.empty())
    return {nullptr,
            "measured for " + list_ranks(environment) + " ranks, here are " + ranks,
            Refusal::group,
            {}};
  const std::string here =
      key.gpus.empty() ? "which GPUs these are is not known" : "here on " + list_gpus(key.gpus);
  return {nullptr,
          ranks + " ranks were measured on GPUs " + measured + ", " + here,
          Refusal::group,
          {}};
}

ProfileMatch refuse(std::string reason) {
  return {nullptr, std::move(reason), Refusal::profile, {}};
}

}  // namespace

// Of environments that differ equally, the one that is in force as it was measured goes first.
EnvironmentMatch match_environment(const Profile& profile, const Environment& here) {
  const TunedEnvironment* nearest = nullptr;
  EnvironmentComparison fewest;
  for (const auto& environment : profile.environments) {
    auto comparison = compare_environments(environment.variables, here, profile.nccl);
    const auto rank = [](const EnvironmentComparison& one) {
      return std::pair(one.count, one.most_channels.has_value());
    };
    if (nearest != nullptr && rank(comparison) >= rank(fewest)) continue;
    nearest = &environment;
    fewest = std::move(comparison);
  }
  return {nearest, std::move(fewest.text), fewest.most_channels};
}

ProfileMatch match(const Profile& profile, const ProfileKey& key) {
  if (profile.fingerprint != key.fingerprint)
    return refuse("made on machine " + profile.fingerprint +
                  (profile.machine.empty() ? "" : " (" + profile.machine + ')') + ", this is " +
                  (key.fingerprint.empty() ? "unknown" : key.fingerprint));
  if (profile.nccl != key.nccl)
    return refuse("made with NCCL " + to_string(profile.nccl) + ", here is NCCL " +
                  to_string(key.nccl));
  const auto matched = match_environment(profile, key.environment);
  if (matched.nearest == nullptr) return refuse("nothing was measured");
  if (!matched.difference.empty())
    return refuse("measured in another environment: " + matched.difference);
  auto found = find_group(*matched.nearest, key);
  found.most_channels = matched.most_channels;
  return found;
}

RuleSet usable_rules(const ProfileMatch& match) {
  if (match.group == nullptr) return {};
  const RuleSet& rules = match.group->rules;
  return match.most_channels ? rules.within(*match.most_channels) : rules;
}

}  // namespace lanewise
