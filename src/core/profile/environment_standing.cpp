// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/environment_standing.hpp"

#include <utility>

#include "core/profile/environment_key.hpp"

namespace lanewise {

EnvironmentStanding find_standing(const Profile& profile, const LaunchRequest& request,
                                  EnvironmentCarrier carrier) {
  EnvironmentStanding standing;
  standing.launch = plan_launch(request);
  standing.seen = request.own;
  if (carrier != EnvironmentCarrier::nobody)
    for (const auto& variable : standing.launch.variables)
      standing.seen.emplace(variable.name, variable.value);
  auto matched = match_environment(profile, standing.seen);
  standing.difference = std::move(matched.difference);
  if (standing.difference.empty()) standing.in_force = matched.nearest;
  if (standing.in_force != nullptr)
    for (const auto& [name, value] : standing.in_force->variables) {
      const auto seen = standing.seen.find(name);
      if (seen == standing.seen.end() || seen->second != value)
        standing.not_set.emplace(name, value);
    }
  if (profile.best_environment && *profile.best_environment < profile.environments.size())
    standing.best = &profile.environments[*profile.best_environment];
  return standing;
}

Environment replace_environment(const Environment& seen, const TunedEnvironment& environment) {
  Environment replaced = seen;
  for (const auto& variable : keyed_part(seen)) replaced.erase(variable.first);
  for (const auto& [name, value] : environment.variables) replaced.insert_or_assign(name, value);
  return replaced;
}

}  // namespace lanewise
