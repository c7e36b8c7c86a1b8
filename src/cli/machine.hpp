// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#pragma once

// Which machine a subcommand looks at.
#include <string>

#include "core/machine/topology.hpp"
#include "host/process/settings.hpp"

namespace lanewise::cli {

// The file of the option --machine, else of LANEWISE_MACHINE; empty: neither is given.
[[nodiscard]] const std::string& named_machine(const std::string& option,
                                               const host::Settings& settings) noexcept;

// That file, else this machine. Throws lanewise::Error for a file that cannot be used.
[[nodiscard]] Topology read_machine(const std::string& option, const host::Settings& settings);
// With the settings of this process, of which it refuses those that are none.
[[nodiscard]] Topology read_machine(const std::string& option);

}  // namespace lanewise::cli
