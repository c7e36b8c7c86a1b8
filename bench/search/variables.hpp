// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Variables as a user writes them, and as ranks have them.
#include <string>

#include "core/profile/profile.hpp"

namespace lanewise {

// "NAME=VALUE,NAME=VALUE"; a part that is no NAME=... belongs to the value before it, as in
// "NCCL_ALGO=Ring,Tree". Throws Error for anything else.
[[nodiscard]] Environment parse_variables(const std::string& text);

// `own` as a child process with `changes` has it: an empty value there takes the variable away.
[[nodiscard]] Environment with_changes(Environment own, const Environment& changes);

}  // namespace lanewise
