// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What else may disturb a measurement: driver, clocks, and who else uses the GPUs. Asked of NVML,
// which is opened at run time; without it the facts are not known.
#include <optional>
#include <string>
#include <vector>

namespace lanewise::bench {

struct MachineState {
  std::optional<std::string> driver;
  std::optional<std::string> fingerprint;  // of the topology
  std::vector<unsigned> clocks_mhz;        // of each GPU's multiprocessors, now
  std::vector<std::string> users;          // "GPU 1 is also used by process 4711"
  std::vector<std::string> warnings;       // users, and what else is not as it should be
};

// Before ranks are started: every process on a GPU is then somebody else's.
[[nodiscard]] MachineState read_machine_state();

}  // namespace lanewise::bench
