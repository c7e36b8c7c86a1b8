// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The command line of this process, as results record it.
#include <string>

namespace lanewise::bench {

[[nodiscard]] std::string command_line();

}  // namespace lanewise::bench
