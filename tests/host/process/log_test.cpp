// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
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

// Opening one would wait for a reader, and writing to one whose reader is gone ends the process.
TEST(Log, NeitherWaitsForAFifoNorWritesToOne) {
  const auto path =
      std::filesystem::path(::testing::TempDir()) / ("lanewise-fifo-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Lines lines;

  const Log without_reader({LogLevel::info, lines.callback(), path.string()});
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const Log with_reader({LogLevel::info, lines.callback(), path.string()});
  with_reader.write(LogLevel::info, "line");

  ASSERT_EQ(lines.lines.size(), 3U);
  EXPECT_NE(lines.lines[0].second.find("LANEWISE_LOG_FILE: "), std::string::npos);
  EXPECT_NE(lines.lines[1].second.find("expected a file"), std::string::npos);
  char byte = 0;
  EXPECT_LE(::read(reader, &byte, 1), 0);
  ::close(reader);
  std::filesystem::remove(path);
}

TEST(Log, MayGoToADevice) {
  const Lines lines;

  Log({LogLevel::info, lines.callback(), "/dev/null"}).write(LogLevel::info, "line");

  EXPECT_EQ(lines.lines.size(), 1U);
}

TEST(Log, KeepsNoDescriptor) {
  const auto path = std::filesystem::path(::testing::TempDir()) /
                    ("lanewise-log-kept-" + std::to_string(::getpid()));
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = descriptors();

  const Log log({LogLevel::info, {}, path.string()});
  log.write(LogLevel::info, "line");

  EXPECT_EQ(descriptors(), before);
  std::filesystem::remove(path);
}

TEST(Log, LeavesAFileThatIsFullAlone) {
  const auto path = std::filesystem::path(::testing::TempDir()) /
                    ("lanewise-log-full-" + std::to_string(::getpid()));
  std::ofstream(path) << "old";
  std::filesystem::resize_file(path, std::uintmax_t{64} << 20U);
  const Lines lines;

  Log({LogLevel::info, lines.callback(), path.string()}).write(LogLevel::info, "line");

  EXPECT_EQ(std::filesystem::file_size(path), std::uintmax_t{64} << 20U);
  EXPECT_NE(lines.lines.at(0).second.find("gets no more"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(LogLevel, IsReadByItsName) {
  EXPECT_EQ(parse_log_level("trace"), LogLevel::trace);
  EXPECT_EQ(parse_log_level("debug"), LogLevel::debug);
  EXPECT_EQ(parse_log_level("info"), LogLevel::info);
  EXPECT_EQ(parse_log_level("warning"), LogLevel::warning);
  EXPECT_EQ(parse_log_level("error"), LogLevel::error);
  EXPECT_EQ(parse_log_level("off"), LogLevel::off);
  EXPECT_EQ(parse_log_level("loud"), std::nullopt);
}

}  // namespace
}  // namespace lanewise::host
