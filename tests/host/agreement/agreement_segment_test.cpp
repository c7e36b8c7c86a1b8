// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// What may be in the place of the file that ranks agree over.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "agreement/agreement_shm.hpp"
#include "agreement_fixture.hpp"

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

class AgreementSegment : public AgreementTest {};

TEST_F(AgreementSegment, RefusesASymbolicLinkInItsPlace) {
  const auto wanted = request(0, 2);
  std::ofstream(folder_ + "/elsewhere") << std::string(64 + 2 * 64, 'x');
  chmod((folder_ + "/elsewhere").c_str(), 0600);
  fs::create_symlink(folder_ + "/elsewhere", agreement_path(wanted));

  const auto outcome = agree(wanted);

  EXPECT_EQ(outcome.verdict, AgreementVerdict::unavailable);
  EXPECT_NE(outcome.note.find(agreement_path(wanted)), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(agreement_path(wanted)));
}

TEST_F(AgreementSegment, RefusesASegmentThatOthersCanWrite) {
  const auto wanted = request(0, 2);
  std::ofstream(agreement_path(wanted)) << "x";
  chmod(agreement_path(wanted).c_str(), 0666);

  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(AgreementSegment, RefusesAnotherUsersSegment) {
  const auto wanted = request(0, 2);
  std::ofstream(agreement_path(wanted)) << "x";
  chmod(agreement_path(wanted).c_str(), 0600);
  if (chown(agreement_path(wanted).c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "needs root, to make another user's file";

  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(AgreementSegment, TakesAnotherPrivateNameWhereOneIsTaken) {
  const auto wanted = request(0, 2);
  const auto taken = agreement_path(wanted) + '.' + std::to_string(getpid()) + '.' +
                     std::to_string(syscall(SYS_gettid)) + ".0";
  std::ofstream(taken) << "another's";
  chmod(taken.c_str(), 0600);

  std::thread other([&] { EXPECT_EQ(agree(request(1, 2)).verdict, AgreementVerdict::apply); });
  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::apply);
  other.join();

  EXPECT_EQ(fs::file_size(taken), 9U);
}

TEST_F(AgreementSegment, RefusesADirectoryOrAFifoInItsPlace) {
  const auto wanted = request(0, 2);
  fs::create_directory(agreement_path(wanted));
  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
  fs::remove(agreement_path(wanted));
  mkfifo(agreement_path(wanted).c_str(), 0600);

  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
}

TEST_F(AgreementSegment, KeepsNoDescriptorOfWhatItRefuses) {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto wanted = request(0, 2);
  std::ofstream(agreement_path(wanted)) << "x";
  chmod(agreement_path(wanted).c_str(), 0666);
  const auto before = open_files();

  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);

  EXPECT_EQ(open_files(), before);
}

TEST_F(AgreementSegment, ReplacesASegmentOfAnotherLayout) {
  const auto path = agreement_path(request(0, 2));
  std::ofstream(path) << std::string(64 + 2 * 64, 'x');
  chmod(path.c_str(), 0600);

  for (const auto& outcome : agree_as_threads({request(0, 2), request(1, 2)}))
    EXPECT_EQ(outcome.verdict, AgreementVerdict::apply);
}

TEST_F(AgreementSegment, ReplacesAnotherReleasesSegmentThatLooksOpen) {
  const auto path = agreement_path(request(0, 2));
  SegmentHeader header{};
  header.magic = 1;
  header.communicator = request(0, 2).communicator;
  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  header.deadline_ns = monotonic_ns() + hour_ns;
  header.ranks = 2;
  header.word = AgreementWord{AgreementVerdict::pending, 1, 0}.bits();
  std::string segment(64 + 2 * 64, '\0');
  std::memcpy(segment.data(), static_cast<const void*>(&header), sizeof header);
  std::ofstream(path, std::ios::binary) << segment;
  chmod(path.c_str(), 0600);

  for (const auto& outcome : agree_as_threads({request(0, 2), request(1, 2)}))
    EXPECT_EQ(outcome.verdict, AgreementVerdict::apply);
}

TEST_F(AgreementSegment, ChangesTheWordOnlyWhereItIsWhatWasSeen) {
  const auto of_one = request(0, 2);
  const auto of_other = request(1, 2);
  ShmBoard one(of_one);
  ASSERT_TRUE(one.create(7));
  ASSERT_EQ(one.publish(), BoardAnswer::done);
  ShmBoard other(of_other);
  ASSERT_EQ(other.open(), BoardAnswer::done);
  auto seen_by_one = one.load();
  auto seen_by_other = other.load();
  const AgreementWord abstained{AgreementVerdict::timed_out, 1, 0};

  EXPECT_TRUE(one.swap(seen_by_one, abstained));
  EXPECT_FALSE(other.swap(seen_by_other, {AgreementVerdict::apply, 2, 2}));

  EXPECT_EQ(seen_by_other, abstained);
  EXPECT_EQ(one.load(), abstained);
}

TEST_F(AgreementSegment, RemovesANameOnlyWhileItMeansTheSameFile) {
  const std::string path = folder_ + "/name";
  std::ofstream(path) << "first";
  struct stat first {};
  ASSERT_EQ(stat(path.c_str(), &first), 0);
  fs::rename(path, folder_ + "/elsewhere");
  std::ofstream(path) << "second";

  remove_shared_file(path, {first.st_dev, first.st_ino});
  EXPECT_EQ(files_left(), 2U);

  remove_shared_file(folder_ + "/elsewhere", {first.st_dev, first.st_ino});
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(AgreementSegment, SaysWhichFolderIsMissing) {
  auto wanted = request(0, 2);
  wanted.folder = folder_ + "/none";

  const auto outcome = agree(wanted);

  EXPECT_EQ(outcome.verdict, AgreementVerdict::unavailable);
  EXPECT_NE(outcome.note.find("/none/"), std::string::npos);
}

}  // namespace
}  // namespace lanewise::host
