// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which NCCL variables a measurement depends on: a profile made under other values of these is
// refused, all other variables are ignored.
#include <span>
#include <string>
#include <string_view>

#include "core/profile/profile.hpp"

namespace lanewise {

// Those that change transport, channels, threads, buffers or the priced entries of an all-reduce
// inside one node, by the source of NCCL 2.21 to 2.30. To read each from the process: getenv.
[[nodiscard]] std::span<const std::string_view> keyed_variables() noexcept;

// The keyed variables of `variables`; an empty value counts as unset, as NCCL takes it.
[[nodiscard]] Environment keyed_part(const Environment& variables);

// What differs, for people: "NCCL_MIN_NCHANNELS is 16 there and not set here"; empty where equal.
[[nodiscard]] std::string describe_difference(const Environment& there, const Environment& here);

}  // namespace lanewise
