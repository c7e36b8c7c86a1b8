// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/files/text_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/error.hpp"
#include "host/profile/profile_file.hpp"

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

class TextFile : public ::testing::Test {
 protected:
  TextFile() {
    std::string name = ::testing::TempDir() + "lanewise-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~TextFile() override { fs::remove_all(folder_); }

  [[nodiscard]] std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  static std::string refusal(const fs::path& path) {
    try {
      (void)read_text_file(path, 100);
    } catch (const Error& error) {
      EXPECT_EQ(error.file(), path.string());
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_;
};

// Writing beyond `bytes` fails as on a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(TextFile, WhatIsWrittenIsReadBackAndNothingElseIsLeft) {
  const fs::path path = folder_ / "a.json";

  write_text_file(path, "first");
  write_text_file(path, "second");

  EXPECT_EQ(read_text_file(path), "second");
  EXPECT_EQ(count_files(), 1U);
}

TEST_F(TextFile, AFullDiskLeavesTheOldFileAndNoOther) {
  const fs::path path = folder_ / "a.json";
  write_text_file(path, "old");
  std::string cause;
  {
    const FileSizeLimit limit(10);
    try {
      write_text_file(path, std::string(100, 'x'));
    } catch (const Error& error) {
      cause = error.what();
    }
  }

  EXPECT_TRUE(cause.starts_with(path.string() + ": cannot write")) << cause;
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(count_files(), 1U);
}

TEST_F(TextFile, WritesThroughASymbolicLink) {
  write_text_file(folder_ / "real", "old");
  fs::create_symlink("real", folder_ / "link");

  write_text_file(folder_ / "link", "new");

  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_text_file(folder_ / "real"), "new");
}

TEST_F(TextFile, RefusesToReplaceWhatIsNoRegularFile) {
  EXPECT_THROW(write_text_file(folder_, "x"), Error);
  EXPECT_THROW(write_text_file("/dev/null", "x"), Error);
  EXPECT_THROW(write_text_file(folder_ / "none" / "a", "x"), Error);
}

TEST_F(TextFile, RefusesToReadWhatIsNoRegularFile) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);

  EXPECT_NE(refusal(fifo).find("expected a regular file"), std::string::npos);
  EXPECT_NE(refusal(folder_).find("expected a regular file"), std::string::npos);
  EXPECT_NE(refusal("/dev/zero").find("expected a regular file"), std::string::npos);
  EXPECT_NE(refusal(folder_ / "none").find("cannot open: No such file"), std::string::npos);
}

TEST_F(TextFile, RefusesToReadWhatEveryoneMayWrite) {
  const fs::path path = folder_ / "a";
  write_text_file(path, "x");
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);

  EXPECT_NE(refusal(path).find("not everyone may write"), std::string::npos);
}

TEST_F(TextFile, AProfileIsRefusedWhereEveryoneMayReplaceIt) {
  const fs::path open_folder = folder_ / "open";
  fs::create_directory(open_folder);
  write_text_file(open_folder / "p.json", "{}");
  fs::create_symlink(open_folder / "p.json", folder_ / "link.json");
  const auto refusal_of = [](const fs::path& path) {
    try {
      (void)read_profile(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  constexpr std::string_view refused = "not everyone may replace it";

  fs::permissions(open_folder, fs::perms::all);
  EXPECT_NE(refusal_of(open_folder / "p.json").find(refused), std::string::npos);
  EXPECT_NE(refusal_of(folder_ / "link.json").find(refused), std::string::npos);

  // As /tmp: nobody replaces another's file.
  fs::permissions(open_folder, fs::perms::all | fs::perms::sticky_bit);
  EXPECT_EQ(refusal_of(open_folder / "p.json").find(refused), std::string::npos);
}

TEST_F(TextFile, RefusesToReadMoreThanTheLimit) {
  const fs::path path = folder_ / "a";
  write_text_file(path, std::string(100, 'x'));
  EXPECT_EQ(refusal(path), "accepted");

  write_text_file(path, std::string(101, 'x'));
  EXPECT_NE(refusal(path).find("at most 100 bytes"), std::string::npos);
}

TEST_F(TextFile, AProfileThatCannotBeReadIsNotWrittenOverOneThatCan) {
  const fs::path path = folder_ / "p.json";
  Profile profile;
  profile.fingerprint = "0123456789abcdef";
  profile.nccl = {2, 30, 7};
  profile.created = "2026-11-29T18:00:00Z";
  write_profile(path, profile);

  Profile broken = profile;
  broken.created = "yesterday";

  EXPECT_THROW(write_profile(path, broken), Error);
  EXPECT_EQ(read_profile(path), profile);
}

}  // namespace
}  // namespace lanewise::host
