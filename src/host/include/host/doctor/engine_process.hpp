// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A running server as its command line and variables tell.
#include <string>
#include <vector>

#include "core/profile/profile.hpp"

namespace lanewise::host {

struct EngineProcess {
  std::vector<std::string> words;
  Environment variables;
};

// Throws Error where the process is not there or hides them from this user.
[[nodiscard]] EngineProcess read_engine_process(int pid);

}  // namespace lanewise::host
