// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "translate.hpp"

namespace lanewise::plugin {
namespace {

constexpr int nccl_warn = 2;
constexpr int nccl_info = 3;
// INIT and TUNING: shown with NCCL_DEBUG=INFO alone, and kept by NCCL_DEBUG_SUBSYS=TUNING.
constexpr unsigned long nccl_subsystems = 0x1UL | 0x40UL;
constexpr int last_collective = 4;

// Our finer levels are INFO to NCCL: its TRACE is compiled out, and LANEWISE_LOG already filters.
void write_to_nccl(const void* state, host::LogLevel level, const char* line) {
  const auto logger = reinterpret_cast<abi::DebugLogger>(const_cast<void*>(state));
  const int nccl_level = level >= host::LogLevel::warning ? nccl_warn : nccl_info;
  logger(nccl_level, nccl_subsystems, "lanewise", 0, "%s", line);
}

}  // namespace

std::optional<Collective> to_collective(abi::Function function) noexcept {
  if (function < 0 || function > last_collective) return std::nullopt;
  return static_cast<Collective>(function);
}

std::optional<Algorithm> to_algorithm(int algorithm) noexcept {
  if (algorithm < 0 || algorithm >= static_cast<int>(algorithm_count)) return std::nullopt;
  return static_cast<Algorithm>(algorithm);
}

std::optional<Protocol> to_protocol(int protocol) noexcept {
  if (protocol < 0 || protocol >= static_cast<int>(protocol_count)) return std::nullopt;
  return static_cast<Protocol>(protocol);
}

int to_nccl(Collective collective) noexcept { return static_cast<int>(collective); }
int to_nccl(Algorithm algorithm) noexcept { return static_cast<int>(algorithm); }
int to_nccl(Protocol protocol) noexcept { return static_cast<int>(protocol); }

host::LogCallback to_log_callback(abi::DebugLogger logger) noexcept {
  if (logger == nullptr) return {};
  return {write_to_nccl, reinterpret_cast<const void*>(logger)};
}

}  // namespace lanewise::plugin
