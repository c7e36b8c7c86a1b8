// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Ping-pong between two GPUs: latency of a flag, or of 4 KiB with a flag.
#include <chrono>

#include "probe.hpp"

namespace lanewise::bench {

// Half a round trip of a flag, us.
[[nodiscard]] Reading measure_latency(const Flow& flow, Method method,
                                      std::chrono::nanoseconds wait);

// From the first of 4 KiB stored to all of it seen at the other GPU, us: a round trip with the
// payload one way, less half a round trip of the flag alone. Through host memory the receiver's
// copy into its own memory is part of it. A second run has the receiver check every payload.
[[nodiscard]] Reading measure_store(const Flow& flow, Method method, std::chrono::nanoseconds wait);

}  // namespace lanewise::bench
