// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The machine of this process: read once, then the same for every communicator, also after a fork.
#include <string>

#include "core/machine/topology.hpp"

namespace lanewise::plugin {

struct Machine {
  Topology topology;  // empty where nothing is known
  std::string fault;  // why; empty where it was read
};

// `file`: a topology file, or empty for this machine. The first caller's counts for the process.
// A machine that cannot be read is an unknown one: never throws for that.
[[nodiscard]] const Machine& machine_of_process(const std::string& file);

// "8x NVIDIA RTX PRO 6000", "2 GPUs", "no GPU in sight".
[[nodiscard]] std::string describe(const Machine& machine);

}  // namespace lanewise::plugin
