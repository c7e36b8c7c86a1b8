// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Between NCCL's ints and our types, in both directions. Nothing else knows NCCL's numbers.
#include <cstddef>
#include <optional>

#include "core/nccl/choice.hpp"
#include "core/nccl/collective.hpp"
#include "core/nccl/cost_table.hpp"
#include "host/counters/counter_key.hpp"
#include "host/process/log.hpp"
#include "nccl_abi.hpp"

namespace lanewise::plugin {

// Nullopt for a function that no tuner is asked about.
[[nodiscard]] std::optional<Collective> to_collective(abi::Function function) noexcept;
[[nodiscard]] std::optional<Algorithm> to_algorithm(int algorithm) noexcept;
[[nodiscard]] std::optional<Protocol> to_protocol(int protocol) noexcept;
[[nodiscard]] int to_nccl(Collective collective) noexcept;
[[nodiscard]] int to_nccl(Algorithm algorithm) noexcept;
[[nodiscard]] int to_nccl(Protocol protocol) noexcept;

// Registered buffers, on a workload that registers none itself, are those of a call under capture.
[[nodiscard]] inline host::CallBuffers to_buffers(int registered) noexcept {
  return registered == 0 ? host::CallBuffers::eager : host::CallBuffers::captured;
}

// An empty table where NCCL gives no table or no sane dimensions.
[[nodiscard]] inline CostTable to_cost_table(float** table, int algorithms,
                                             int protocols) noexcept {
  // One test for both signs: this is part of every call. A table of no rows costs nothing.
  if ((algorithms | protocols) < 0) return {};
  return {reinterpret_cast<float*>(table), static_cast<std::size_t>(algorithms),
          static_cast<std::size_t>(protocols)};
}

// Lines go to NCCL's log at INFO or WARN; without a logger there is no callback.
[[nodiscard]] host::LogCallback to_log_callback(abi::DebugLogger logger) noexcept;

}  // namespace lanewise::plugin
