// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/environment_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/profile/environment_key.hpp"
#include "core/profile/profile_variable.hpp"

namespace lanewise {
namespace {

bool contains(const Environment& whole, const Environment& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// Nothing is the user's word for NCCL's default. A variable without effect may be anything.
bool is_one_value(const std::string& name, const std::string& a, const std::string& b) {
  const auto* variable = find_profile_variable(name);
  if (variable == nullptr) return a == b;
  return variable->effect == VariableEffect::none ||
         normalize(*variable, a) == normalize(*variable, b);
}

bool sets_otherwise(const Environment& own, const Environment& variables) {
  return std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
    const auto found = own.find(variable.first);
    return found != own.end() && !is_one_value(variable.first, found->second, variable.second);
  });
}

// What a process has in the end: nothing that it has set itself is changed.
Environment join(const Environment& own, const Environment& variables) {
  Environment joined = own;
  joined.insert(variables.begin(), variables.end());
  return joined;
}

EnvironmentComparison compare_joined(const Profile& profile, const TunedEnvironment& environment,
                                     const Environment& own) {
  return compare_environments(environment.variables, join(own, environment.variables),
                              profile.nccl);
}

bool fits(const Profile& profile, const TunedEnvironment& environment, const Environment& own) {
  return compare_joined(profile, environment, own).count == 0 &&
         !sets_otherwise(own, environment.variables) && !is_unsafe(profile, environment.variables);
}

const TunedEnvironment* find_fastest(const Profile& profile, const Environment& own) {
  const TunedEnvironment* fastest = nullptr;
  for (const auto& environment : profile.environments) {
    if (!fits(profile, environment, own)) continue;
    if (fastest == nullptr || environment.speedup > fastest->speedup) fastest = &environment;
  }
  return fastest;
}

Environment missing_from(const Environment& own, const Environment& variables) {
  Environment missing;
  for (const auto& variable : variables)
    if (!own.contains(variable.first)) missing.insert(variable);
  return missing;
}

// The reason why the best one is not taken: an unsafe setting, else what is set otherwise.
std::string explain_conflict(const Profile& profile, const TunedEnvironment& best,
                             const Environment& own) {
  if (is_unsafe(profile, best.variables))
    return "the best environment (" + to_string(best.variables) + ") holds an unsafe setting";
  Environment kept;
  for (const auto& [name, value] : own) {
    const Environment alone = {{name, value}};
    if (sets_otherwise(alone, best.variables) || compare_joined(profile, best, alone).count > 0)
      kept.emplace(name, value);
  }
  return to_string(kept) + " is set already and kept; the best environment was measured with " +
         to_string(best.variables);
}

// The user's bounds that leave fewer channels than were measured.
std::string explain_limit(const Environment& own, int most_channels) {
  Environment bounds;
  for (const auto& [name, value] : own) {
    const auto* variable = find_profile_variable(name);
    if (variable != nullptr && variable->effect == VariableEffect::channels)
      bounds.emplace(name, value);
  }
  return to_string(bounds) + " leaves " + std::to_string(most_channels) +
         " channels: choices of more are left out";
}

}  // namespace

bool is_unsafe(const Profile& profile, const Environment& variables) {
  return std::any_of(profile.unsafe.begin(), profile.unsafe.end(), [&](const auto& setting) {
    return !setting.variables.empty() && contains(variables, setting.variables);
  });
}

EnvironmentPlan plan_environment(const Profile& profile, const Environment& own) {
  EnvironmentPlan plan;
  if (!profile.best_environment || *profile.best_environment >= profile.environments.size()) {
    plan.remark = "the profile has no environment that beats stock's";
    return plan;
  }
  const auto& best = profile.environments[*profile.best_environment];
  const bool is_best = fits(profile, best, own);
  plan.environment = is_best ? &best : find_fastest(profile, own);
  if (plan.environment != nullptr) {
    plan.additions = missing_from(own, plan.environment->variables);
    const auto most_channels = compare_joined(profile, *plan.environment, own).most_channels;
    if (most_channels) plan.limit = explain_limit(own, *most_channels);
  }
  if (is_best) return plan;
  plan.remark = explain_conflict(profile, best, own);
  plan.remark += plan.environment == nullptr
                     ? ": no environment was measured with that, so none is applied"
                     : ": the next best that fits is " + to_string(plan.environment->variables);
  return plan;
}

std::string to_string(const Environment& variables) {
  if (variables.empty()) return "stock's environment";
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(value);
  }
  return text;
}

std::string describe_measurement(const TunedEnvironment& environment) {
  constexpr double bytes_per_mebibyte = 1024.0 * 1024.0;
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(),
                "measured at %.2fx stock, %.1f MiB more device memory a rank", environment.speedup,
                static_cast<double>(environment.memory_bytes) / bytes_per_mebibyte);
  return text.data();
}

}  // namespace lanewise
