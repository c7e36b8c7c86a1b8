// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which GPU the calling thread drives, asked of the CUDA driver that the process already loaded.
#include <optional>

#include "core/machine/topology.hpp"

namespace lanewise::host {

// The GPU of the thread's current context. Loads and initialises nothing; nullopt where there is no
// driver library, no initialised CUDA (as in a forked child) or no current context. Never throws.
[[nodiscard]] std::optional<PciAddress> gpu_of_this_thread() noexcept;

}  // namespace lanewise::host
