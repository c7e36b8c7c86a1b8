// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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

class CallbackSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CallbackSink(LogCallback callback) : callback_(callback) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string line(message.payload.data(), message.payload.size());
    callback_.write(callback_.state, from_spdlog(message.level), line.c_str());
  }
  void flush_() override {}

  LogCallback callback_;
};

std::string with_process_id(std::string path) {
  const auto place = path.find("%p");
  if (place != std::string::npos) path.replace(place, 2, std::to_string(::getpid()));
  return path;
}

}  // namespace

std::string_view name_of(LogLevel level) noexcept {
  return level_names[static_cast<std::size_t>(level)];
}

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
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(with_process_id(options.file));
    file->set_pattern("%Y-%m-%dT%H:%M:%S.%f %P %l %v");
    logger.sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex& error) {
    write(LogLevel::warning, std::string("LANEWISE_LOG_FILE: ") + error.what());
  }
}

Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

void Log::write(LogLevel level, std::string_view line) const noexcept {
  if (!is_enabled(level) || level == LogLevel::off) return;
  sinks_->logger.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace lanewise::host
