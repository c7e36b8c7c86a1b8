// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// From the environment, the files and the machine to what one communicator's policy is made of.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/decision/policy_inputs.hpp"
#include "core/machine/topology.hpp"
#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"
#include "host/nccl/nccl_library.hpp"
#include "host/process/settings.hpp"
#include "nccl_abi.hpp"

namespace lanewise::plugin {

// What init is told. `communicator` is the same on all ranks, and known from tuner v5 on.
struct Opening {
  std::size_t ranks = 0;
  std::size_t nodes = 0;
  abi::DebugLogger logger = nullptr;
  std::optional<std::uint64_t> communicator;
  CostTableAccess costs = CostTableAccess::with_table;
  // That take this version of the interface and no newer one of ours; the first is believed where
  // NCCL cannot be asked.
  host::ReleaseBounds releases;
  const void* caller = nullptr;  // in the object that called init
};

// The GPU of each rank, in no order; none where a rank does not know its own. Empty: not known.
using RankGpus = std::vector<std::optional<PciAddress>>;

struct Inputs {
  PolicyInputs policy;
  Environment environment;
  const Topology* topology = nullptr;  // of the process: outlives every communicator
  std::string machine;                 // for the log
  std::optional<Profile> profile;
  std::string profile_file;     // empty: there is none
  std::string profile_refusal;  // why the profile's rules are not used; empty where they are
  Refusal refusal_kind = Refusal::none;
  std::optional<int> most_channels;  // the rules that ask for more are left out
};

// What init says of a communicator; asks NCCL for its release.
struct Identity {
  int ranks = 0;
  int nodes = 0;
  NcclRelease release;
};
[[nodiscard]] Identity identify(const Opening& opening);

// What is the same whichever GPUs the ranks drive. Throws Error for a LANEWISE_MACHINE or
// LANEWISE_PROFILE that cannot be used.
[[nodiscard]] Inputs gather_inputs(const Opening& opening, const host::Settings& settings,
                                   const Environment& environment);

// Adds what depends on the GPUs: facts of the machine, and the rules of the profile.
void complete_inputs(Inputs& inputs, const RankGpus& gpus);

}  // namespace lanewise::plugin
