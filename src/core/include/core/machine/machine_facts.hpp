// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What of a machine a policy may rest on. Everything unknown where the topology is.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/decision/policy_inputs.hpp"
#include "core/machine/topology.hpp"

namespace lanewise {

// Whether the topology's GPUs are known to be the communicator's, or may be more than it uses.
enum class GpuSelection : std::uint8_t { unknown, known };

// Sets `nvlink`, `switches` and `models` of `inputs`, whose `ranks` are set already. NVLink is
// never `present`: a user may have switched it off, and the costs show what NCCL uses.
void add_machine_facts(PolicyInputs& inputs, const Topology& topology,
                       GpuSelection selection = GpuSelection::unknown);

// From the GPU of each rank, in any order; nullopt where there are none or one is not known.
[[nodiscard]] std::optional<GpuSharing> find_sharing(std::vector<std::optional<PciAddress>> gpus);

}  // namespace lanewise
