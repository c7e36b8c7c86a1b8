// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "process/log_file.hpp"

namespace lanewise::host {
namespace {

constexpr std::array<std::string_view, 6> level_names = {"trace",   "debug", "info",
                                                         "warning", "error", "off"};

spdlog::level::level_enum to_spdlog(LogLevel level) noexcept {
  constexpr std::array levels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                 spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  return levels[static_cast<std::size_t>(level)];
}

LogLevel from_spdlog(spdlog::level::level_enum level) noexcept {
  constexpr std::array levels = {LogLevel::trace,   LogLevel::debug, LogLevel::info,
                                 LogLevel::warning, LogLevel::error, LogLevel::error,
                                 LogLevel::off};
  return levels[static_cast<std::size_t>(level)];
}

// Sinks without a lock: a child that is forked while another thread writes must not find one held.
class LineSink : public spdlog::sinks::sink {
 public:
  void flush() final {}
  void set_pattern(const std::string&) final {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) final {}
};

class CallbackSink final : public LineSink {
 public:
  explicit CallbackSink(LogCallback callback) : callback_(callback) {}
  void log(const spdlog::details::log_msg& message) override {
    const std::string line(message.payload.data(), message.payload.size());
    callback_.write(callback_.state, from_spdlog(message.level), line.c_str());
  }

 private:
  LogCallback callback_;
};

class FileSink final : public LineSink {
 public:
  explicit FileSink(LogFile file) : file_(std::move(file)) {}
  void log(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    spdlog::pattern_formatter("%Y-%m-%dT%H:%M:%S.%f %P %l %v").format(message, line);
    file_.append({line.data(), line.size()});
  }

 private:
  LogFile file_;
};

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view word) noexcept {
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (level_names[i] == word) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

struct Log::Sinks {
  spdlog::logger logger{"lanewise"};
};

Log::Log(const LogOptions& options) : level_(options.level), sinks_(std::make_unique<Sinks>()) {
  auto& logger = sinks_->logger;
  logger.set_level(to_spdlog(level_));
  logger.flush_on(spdlog::level::trace);
  // spdlog's own handler prints to stderr, which belongs to the program that loaded us.
  logger.set_error_handler([](const std::string&) {});
  if (options.callback.write != nullptr) {
    logger.sinks().push_back(std::make_shared<CallbackSink>(options.callback));
  }
  if (options.file.empty()) return;
  LogFile file(options.file);
  if (const auto fault = file.find_fault(); !fault.empty())
    write(LogLevel::warning, "LANEWISE_LOG_FILE: " + fault);
  else
    logger.sinks().push_back(std::make_shared<FileSink>(std::move(file)));
}

Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

void Log::write(LogLevel level, std::string_view line) const noexcept {
  if (!is_enabled(level) || level == LogLevel::off) return;
  sinks_->logger.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace lanewise::host
