// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/environment_key.hpp"

#include <utility>

#include "core/profile/channel_bounds.hpp"
#include "core/profile/profile_variable.hpp"

namespace lanewise {
namespace {

std::string describe(const Environment& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "not set" : found->second;
}

bool is_bound(const std::string& name) {
  const auto* variable = find_profile_variable(name);
  return variable != nullptr && variable->effect == VariableEffect::channels;
}

}  // namespace

Environment keyed_part(const Environment& variables) {
  Environment part;
  for (const auto& [name, value] : variables) {
    const auto* variable = find_profile_variable(name);
    if (variable == nullptr || variable->effect == VariableEffect::none) continue;
    auto text = normalize(*variable, value);
    if (!text.empty()) part.emplace(name, std::move(text));
  }
  return part;
}

EnvironmentComparison compare_environments(const Environment& there, const Environment& here,
                                           const NcclRelease& release) {
  EnvironmentComparison comparison;
  const auto measured = keyed_part(there);
  const auto now = keyed_part(here);
  const auto bounds = channel_bounds(measured, release);
  const auto usable = usable_channels(bounds, channel_bounds(now, release));
  if (usable && *usable < bounds.high) comparison.most_channels = usable;
  Environment all = measured;
  all.insert(now.begin(), now.end());
  for (const auto& variable : all) {
    const auto& name = variable.first;
    const auto old_value = describe(measured, name);
    const auto new_value = describe(now, name);
    if (old_value == new_value || (usable && is_bound(name))) continue;
    if (comparison.count++ > 0) comparison.text += ", ";
    comparison.text.append(name).append(" is ").append(old_value).append(" there and ");
    comparison.text.append(new_value).append(" here");
  }
  return comparison;
}

}  // namespace lanewise
