// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where a process stands among the environments of a profile: the one in force, the best one, and
// what lies between them. For `lanewise explain`; pure.
#include <cstdint>
#include <string>

#include "core/profile/launch_plan.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {

// Who hands NCCL the variables that the process does not have itself.
enum class EnvironmentCarrier : std::uint8_t { nobody, env_plugin, net_plugin };

// Points into the profile it was made from.
struct EnvironmentStanding {
  Environment seen;                            // by NCCL: the process's and the carrier's
  const TunedEnvironment* in_force = nullptr;  // nullptr: nothing was measured in what is seen
  // Of the one in force, but no key (environment_key.hpp) and so set otherwise without a word.
  Environment not_set;
  std::string difference;                  // of the nearest one from what is seen
  const TunedEnvironment* best = nullptr;  // nullptr: none beats stock's
  LaunchPlan launch;                       // what `lanewise run` sets and leaves alone
};

// `request.profile` is what `lanewise run` would apply, nullptr where it may not: `profile` is
// still told apart. A carrier brings what `run` would set.
[[nodiscard]] EnvironmentStanding find_standing(const Profile& profile,
                                                const LaunchRequest& request,
                                                EnvironmentCarrier carrier);

// What NCCL would see with `environment` in place of the measured variables of `seen`.
[[nodiscard]] Environment replace_environment(const Environment& seen,
                                              const TunedEnvironment& environment);

}  // namespace lanewise
