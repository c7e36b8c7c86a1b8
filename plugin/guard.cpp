// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "guard.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>

#include "host/process/fork_lock.hpp"
#include "translate.hpp"

namespace lanewise::plugin {
namespace {

// Causes that were reported, by hash. A process with more of them than this says no more.
constexpr std::size_t max_causes = 16;
constinit host::ForkLock causes_lock;
constinit std::array<std::size_t, max_causes> causes{};
constinit std::size_t cause_count = 0;

}  // namespace

bool prepare_thread() noexcept {
  // More than a thread's own storage and all of an init take: hwloc, too, ends the process where it
  // finds no memory to begin with.
  constexpr std::size_t probe_bytes = std::size_t{4} << 20;
  // Not new: libstdc++'s throws and catches inside, also the one that returns null.
  void* volatile probe = std::malloc(probe_bytes);
  if (probe == nullptr) return false;
  std::free(probe);
  return std::uncaught_exceptions() >= 0;  // touches that storage
}

bool is_first(std::string_view cause) noexcept {
  const std::size_t hash = std::hash<std::string_view>{}(cause);
  const std::lock_guard lock(causes_lock);
  const auto* end = causes.begin() + cause_count;
  if (std::find(causes.cbegin(), end, hash) != end || cause_count == max_causes) return false;
  causes[cause_count++] = hash;
  return true;
}

void log_unknown_names(const host::Log& log, const host::Settings& settings) {
  for (const auto& line : settings.unknown_names)
    if (is_first(line)) log.write(host::LogLevel::warning, "lanewise: " + line);
}

void warn_once(abi::DebugLogger logger, const char* cause) noexcept {
  if (logger == nullptr || !is_first(cause)) return;
  // A fixed buffer: the cause may be that there is no memory.
  std::array<char, 512> line{};
  std::snprintf(line.data(), line.size(), "lanewise: inert: %s", cause);
  const auto callback = to_log_callback(logger);
  callback.write(callback.state, host::LogLevel::warning, line.data());
}

}  // namespace lanewise::plugin
