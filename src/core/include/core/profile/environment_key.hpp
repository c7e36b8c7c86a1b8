// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which NCCL variables a measurement depends on: a profile made under other values of these is
// refused, all other variables are ignored. The variables themselves: profile_variable.hpp.
#include <cstddef>
#include <optional>
#include <string>

#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {

// Those of `variables` that change transport, channels, threads, buffers or the priced entries of
// an all-reduce inside one node, by the source of NCCL 2.21 to 2.30. Values are as NCCL takes them:
// what is empty or NCCL's default is left out.
[[nodiscard]] Environment keyed_part(const Environment& variables);

// What stands between a measurement `there` and a process `here`.
struct EnvironmentComparison {
  std::size_t count = 0;  // of variables that make it another measurement
  std::string text;       // for people: "NCCL_NTHREADS is 256 there and not set here"; empty: none
  // Where `here` leaves fewer channels and nothing else is different: the rules that ask for no
  // more than these hold.
  std::optional<int> most_channels;
};
[[nodiscard]] EnvironmentComparison compare_environments(const Environment& there,
                                                         const Environment& here,
                                                         const NcclRelease& release);

}  // namespace lanewise
