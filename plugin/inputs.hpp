// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// From the environment, the files and the machine to what one communicator's policy is made of.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "host/settings.hpp"
#include "lanewise/nccl_release.hpp"
#include "lanewise/policy_inputs.hpp"
#include "lanewise/profile.hpp"
#include "nccl_abi.hpp"

namespace lanewise::plugin {

// What init is told. `communicator` is the same on all ranks, and known from tuner v5 on.
struct Opening {
  std::size_t ranks = 0;
  std::size_t nodes = 0;
  abi::DebugLogger logger = nullptr;
  std::optional<std::uint64_t> communicator;
  PriceAccess prices = PriceAccess::with_table;
  NcclRelease first_release;  // of this ABI version: believed where NCCL cannot be asked
};

struct Inputs {
  PolicyInputs policy;
  std::string machine;          // for the log
  std::string profile_file;     // empty: there is none
  std::string profile_refusal;  // why the profile's rules are not used; empty where they are
};

// Throws Error for a LANEWISE_MACHINE or LANEWISE_PROFILE that cannot be used.
[[nodiscard]] Inputs gather_inputs(const Opening& opening, const host::Settings& settings,
                                   const Environment& environment);

}  // namespace lanewise::plugin
