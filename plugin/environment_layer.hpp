// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The environment layer inside NCCL: the same variables that `lanewise run` sets, answered by the
// env plugin or set by the net plugin. Decided once a process; what the user has set always wins.
#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"
#include "nccl_abi.hpp"

namespace lanewise::plugin {

// The env plugin's start. Throws Error, and answers nothing of its own, where settings or profile
// cannot be used.
void open_env(abi::DebugLogger logger, const NcclRelease& release);

// The process's own value, else the layer's, else null.
[[nodiscard]] const char* answer_env(const char* name) noexcept;

// The net plugin's start: says that it has no network, and with LANEWISE_APPLY_ENV=1 sets the
// variables, once. Throws as open_env does.
void open_net(abi::DebugLogger logger);

// From now on NCCL asks on this thread for a communicator of so many ranks: said by the tuner's
// init, before NCCL reads the thresholds.
void begin_communicator(int ranks) noexcept;

// What NCCL sees on this thread: this process's LANEWISE_* and NCCL_* variables and the env
// plugin's answers.
[[nodiscard]] Environment read_environment_in_force();

}  // namespace lanewise::plugin
