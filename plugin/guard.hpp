// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The C boundary. Every exported function's body is one call of guarded(): whatever happens, NCCL
// gets success, because it takes any error for fatal.
#include <exception>
#include <string_view>
#include <utility>

#include "host/process/log.hpp"
#include "host/process/settings.hpp"
#include "nccl_abi.hpp"

namespace lanewise::plugin {

// Whether nothing in this process has been said of this cause yet; false once there were many.
[[nodiscard]] bool is_first(std::string_view cause) noexcept;

// A warning through NCCL's logger (null: none), once a process for each cause.
void warn_once(abi::DebugLogger logger, const char* cause) noexcept;

// Names that are no setting, a warning each, once a process.
void log_unknown_names(const host::Log& log, const host::Settings& settings);

// Makes the room that throwing needs in this thread, while there is room: the C library ends the
// process where it cannot make it later. False: there is none.
[[nodiscard]] bool prepare_thread() noexcept;

template <typename Body>
abi::Result guarded(abi::DebugLogger logger, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& error) {
    warn_once(logger, error.what());
  } catch (...) {
    warn_once(logger, "unknown exception");
  }
  return abi::success;
}

}  // namespace lanewise::plugin
