// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Flows between GPUs all at once, for measure_bandwidth() of arrival.hpp.
#include <chrono>
#include <memory>

#include "arrival.hpp"

namespace lanewise::bench {

[[nodiscard]] std::unique_ptr<FlowBackend> make_gpu_flows(std::chrono::nanoseconds wait);

}  // namespace lanewise::bench
