// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace lanewise::host {
namespace {

struct Lines {
  std::vector<std::pair<LogLevel, std::string>> lines;
  static void take(const void* state, LogLevel level, const char* line) {
    const_cast<Lines*>(static_cast<const Lines*>(state))->lines.emplace_back(level, line);
  }
  [[nodiscard]] LogCallback callback() const { return {take, this}; }
};

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Log, GivesLinesOfItsLevelAndAboveToTheCallback) {
  const Lines lines;
  const Log log({LogLevel::info, lines.callback(), ""});

  log.write(LogLevel::debug, "no");
  log.write(LogLevel::info, "yes {}");
  log.write(LogLevel::warning, "oh");

  ASSERT_EQ(lines.lines.size(), 2U);
  EXPECT_EQ(lines.lines[0], std::pair(LogLevel::info, std::string("yes {}")));
  EXPECT_EQ(lines.lines[1], std::pair(LogLevel::warning, std::string("oh")));
  EXPECT_FALSE(log.is_enabled(LogLevel::trace));
}

TEST(Log, SaysNothingWhenOffOrWithoutSinks) {
  const Lines lines;

  Log({LogLevel::off, lines.callback(), ""}).write(LogLevel::error, "no");
  Log({LogLevel::trace, {}, ""}).write(LogLevel::error, "no");

  EXPECT_TRUE(lines.lines.empty());
}

TEST(Log, AppendsToAFileNamedForTheProcess) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const auto path = folder / ("lanewise-log-" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  const LogOptions options{LogLevel::info, {}, (folder / "lanewise-log-%p").string()};

  Log(options).write(LogLevel::info, "first");
  Log(options).write(LogLevel::warning, "second");

  const auto text = read(path);
  EXPECT_NE(text.find("info first\n"), std::string::npos) << text;
  EXPECT_NE(text.find("warning second\n"), std::string::npos) << text;
  std::filesystem::remove(path);
}

TEST(Log, ReportsAFileThatCannotBeOpenedAndGoesOn) {
  const Lines lines;
  const Log log({LogLevel::info, lines.callback(), "/proc/none/log"});

  log.write(LogLevel::info, "still here");

  ASSERT_EQ(lines.lines.size(), 2U);
  EXPECT_EQ(lines.lines[0].first, LogLevel::warning);
  EXPECT_NE(lines.lines[0].second.find("LANEWISE_LOG_FILE"), std::string::npos);
  EXPECT_EQ(lines.lines[1].second, "still here");
}

TEST(LogLevel, RoundTripsItsNames) {
  for (const auto level : {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warning,
                           LogLevel::error, LogLevel::off}) {
    EXPECT_EQ(parse_log_level(name_of(level)), level);
  }
  EXPECT_EQ(parse_log_level("loud"), std::nullopt);
}

}  // namespace
}  // namespace lanewise::host
