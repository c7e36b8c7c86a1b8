// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which environment of a profile joins what a process has set already. Only whole environments
// were measured, so one is added whole or not at all, and nothing that is set is changed.
#include <string>

#include "core/profile/profile.hpp"

namespace lanewise {

struct EnvironmentPlan {
  const TunedEnvironment* environment = nullptr;  // of the profile; nullptr: none fits
  Environment additions;                          // its variables that are not set yet
  std::string remark;  // one line: why not the best one; empty where it is the best
  std::string limit;   // one line: which choices a bound of `own` leaves out; empty: none
};

// `own`: the variables of the process, others than NCCL's are ignored. An environment fits if a
// process that has both is in it (see environment_key.hpp), if `own` has none of its variables at
// another value, and if it holds no unsafe setting; the profile's best one is taken, else the one
// with the largest speedup. A profile without a best environment gives none.
[[nodiscard]] EnvironmentPlan plan_environment(const Profile& profile, const Environment& own);

// Whether these variables hold a setting that the profile records as unsafe.
[[nodiscard]] bool is_unsafe(const Profile& profile, const Environment& variables);

// "NCCL_MIN_NCHANNELS=16 NCCL_P2P_LEVEL=SYS"; "stock's environment" where empty.
[[nodiscard]] std::string to_string(const Environment& variables);

// "measured at 1.93x stock, 48.0 MiB more device memory a rank".
[[nodiscard]] std::string describe_measurement(const TunedEnvironment& environment);

}  // namespace lanewise
