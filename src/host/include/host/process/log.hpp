// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The log of one communicator or command: to a callback (NCCL's logger), to a file, or both.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lanewise::host {

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, off };
[[nodiscard]] std::optional<LogLevel> parse_log_level(std::string_view word) noexcept;

// Takes one line without its newline, from any thread, and must not throw. Null: no callback.
struct LogCallback {
  void (*write)(const void* state, LogLevel level, const char* line) = nullptr;
  const void* state = nullptr;
};

// `file`: empty for none, "%p" in it stands for the process id; a file or a device such as
// /dev/null, appended to up to 64 MiB.
struct LogOptions {
  LogLevel level = LogLevel::info;
  LogCallback callback;
  std::string file;
};

// Thread-safe. Writing never throws and never fails: a line that cannot be written is lost.
class Log {
 public:
  // A file that cannot be appended to is reported through the callback and left out: a log must not
  // make one rank decide otherwise than its peers.
  explicit Log(const LogOptions& options);
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  // One comparison: callers ask before they compose a line.
  [[nodiscard]] bool is_enabled(LogLevel level) const noexcept { return level >= level_; }
  void write(LogLevel level, std::string_view line) const noexcept;

 private:
  struct Sinks;
  LogLevel level_;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace lanewise::host
