// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/agreement.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "agreement_shm.hpp"

namespace lanewise::host {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// A folder of its own per test stands for /dev/shm; it lies there, as futexes need memory files.
class AgreementTest : public ::testing::Test {
 protected:
  AgreementTest() {
    std::string pattern = "/dev/shm/lanewise-test-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~AgreementTest() override { fs::remove_all(folder_); }

  [[nodiscard]] AgreementRequest request(int rank, int ranks) const {
    AgreementRequest wanted;
    wanted.communicator = 0x1234;
    wanted.ranks = ranks;
    wanted.digest = 7;
    wanted.gpu = PciAddress{0x10000, static_cast<std::uint8_t>(rank), 0, 0};
    wanted.limit = 10s;
    wanted.folder = folder_;
    return wanted;
  }

  [[nodiscard]] std::size_t files_left() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  std::string folder_;
};

// Keeps the agreement, as a communicator does: late ranks learn the verdict from it.
struct Outcome {
  std::unique_ptr<Agreement> agreement;
  AgreementVerdict verdict = AgreementVerdict::pending;
  std::string note;
  std::size_t gpus = 0;
};

Outcome agree(const AgreementRequest& request, std::uint64_t plan = 1) {
  Outcome outcome{std::make_unique<Agreement>(request)};
  if (const auto gpus = outcome.agreement->gather()) {
    for (const auto& gpu : *gpus) outcome.gpus += gpu.has_value() ? 1 : 0;
    (void)outcome.agreement->commit(plan);
  }
  outcome.verdict = outcome.agreement->verdict();
  outcome.note = outcome.agreement->note();
  return outcome;
}

std::vector<Outcome> agree_as_threads(const std::vector<AgreementRequest>& requests) {
  std::vector<Outcome> outcomes(requests.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < requests.size(); ++i)
    threads.emplace_back([&, i] { outcomes[i] = agree(requests[i]); });
  for (auto& thread : threads) thread.join();
  return outcomes;
}

TEST_F(AgreementTest, ThreadsApplyAndKnowEveryGpu) {
  std::vector<AgreementRequest> requests;
  for (int rank = 0; rank < 8; ++rank) requests.push_back(request(rank, 8));

  for (const auto& outcome : agree_as_threads(requests)) {
    EXPECT_EQ(outcome.verdict, AgreementVerdict::apply) << outcome.note;
    EXPECT_EQ(outcome.gpus, 8U);
  }
  EXPECT_EQ(files_left(), 0U);
}

// A child's exit status is its verdict; -1 where a signal ended it.
pid_t start_rank(const AgreementRequest& request) {
  const pid_t child = fork();
  if (child == 0) _exit(static_cast<int>(agree(request).verdict));
  return child;
}

int verdict_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(AgreementTest, ProcessesApply) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < 4; ++rank) children.push_back(start_rank(request(rank, 4)));

  for (const auto child : children)
    EXPECT_EQ(verdict_of(child), static_cast<int>(AgreementVerdict::apply));
  EXPECT_EQ(files_left(), 0U);
}

TEST_F(AgreementTest, OneOtherDigestMakesAllAbstainAtOnce) {
  std::vector<AgreementRequest> requests(4, request(0, 4));
  requests[2].digest = 8;

  for (const auto& outcome : agree_as_threads(requests))
    EXPECT_EQ(outcome.verdict, AgreementVerdict::mismatch);
}

TEST_F(AgreementTest, AMissingRankMakesTheOthersAbstainAfterTheLimit) {
  auto wanted = request(0, 3);
  wanted.limit = 20ms;

  for (const auto& outcome : agree_as_threads({wanted, wanted}))
    EXPECT_EQ(outcome.verdict, AgreementVerdict::timed_out);
  EXPECT_EQ(files_left(), 0U);
}

TEST_F(AgreementTest, OneOtherPlanMakesAllAbstain) {
  std::thread other(
      [&] { EXPECT_EQ(agree(request(0, 2), 2).verdict, AgreementVerdict::mismatch); });

  EXPECT_EQ(agree(request(1, 2), 1).verdict, AgreementVerdict::mismatch);
  other.join();
}

TEST_F(AgreementTest, ALateRankAbstainsToo) {
  auto early = request(0, 2);
  early.limit = 1ms;
  Agreement first(early);
  EXPECT_FALSE(first.gather());

  EXPECT_EQ(agree(early).verdict, AgreementVerdict::timed_out);
}

TEST_F(AgreementTest, ARankThatWithdrawsIsNotWaitedFor) {
  Agreement inert(request(0, 2));
  inert.withdraw();

  EXPECT_EQ(agree(request(1, 2)).verdict, AgreementVerdict::withdrawn);
}

TEST_F(AgreementTest, ARankThatFailsAfterTheGatheringTakesAllAlong) {
  std::thread failing([&] {
    Agreement agreement(request(0, 2));
    EXPECT_TRUE(agreement.gather());
  });

  EXPECT_EQ(agree(request(1, 2)).verdict, AgreementVerdict::withdrawn);
  failing.join();
}

// How many ranks are in, from the file's own word.
int arrived_in(const std::string& path) {
  constexpr off_t word_offset = 28;
  std::uint32_t bits = 0;
  const int file = open(path.c_str(), O_RDONLY);
  const auto length = pread(file, &bits, sizeof bits, word_offset);
  close(file);
  return length == sizeof bits ? AgreementWord::from_bits(bits).arrived : 0;
}

void await_arrivals(const AgreementRequest& request, int ranks) {
  while (arrived_in(agreement_path(request)) < ranks) std::this_thread::yield();
}

TEST_F(AgreementTest, AKilledRankIsNoticedBeforeTheLimit) {
  const pid_t killed = start_rank(request(0, 3));
  std::thread killer([&] {
    await_arrivals(request(0, 3), 2);
    kill(killed, SIGKILL);
    waitpid(killed, nullptr, 0);
  });

  const auto outcome = agree(request(1, 3));

  killer.join();
  EXPECT_EQ(outcome.verdict, AgreementVerdict::rank_died);
}

TEST_F(AgreementTest, TakesOverWhatKilledRanksLeft) {
  const pid_t killed = start_rank(request(0, 2));
  await_arrivals(request(0, 2), 1);
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  ASSERT_EQ(files_left(), 1U);

  for (const auto& outcome : agree_as_threads({request(0, 2), request(1, 2)}))
    EXPECT_EQ(outcome.verdict, AgreementVerdict::apply);
  EXPECT_EQ(files_left(), 0U);
}

TEST_F(AgreementTest, OneNameServesManyCommunicatorsInTurn) {
  for (int generation = 0; generation < 200; ++generation)
    for (const auto& outcome : agree_as_threads({request(0, 2), request(1, 2)}))
      ASSERT_EQ(outcome.verdict, AgreementVerdict::apply) << generation;
  EXPECT_EQ(files_left(), 0U);
}

TEST_F(AgreementTest, RefusesASymbolicLinkInItsPlace) {
  const auto wanted = request(0, 2);
  std::ofstream(folder_ + "/elsewhere") << std::string(64 + 2 * 64, 'x');
  chmod((folder_ + "/elsewhere").c_str(), 0600);
  fs::create_symlink(folder_ + "/elsewhere", agreement_path(wanted));

  const auto outcome = agree(wanted);

  EXPECT_EQ(outcome.verdict, AgreementVerdict::unavailable);
  EXPECT_NE(outcome.note.find(agreement_path(wanted)), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(agreement_path(wanted)));
}

TEST_F(AgreementTest, RefusesASegmentThatOthersCanWrite) {
  const auto wanted = request(0, 2);
  std::ofstream(agreement_path(wanted)) << "x";
  chmod(agreement_path(wanted).c_str(), 0666);

  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(AgreementTest, RefusesAnotherUsersSegment) {
  const auto wanted = request(0, 2);
  std::ofstream(agreement_path(wanted)) << "x";
  chmod(agreement_path(wanted).c_str(), 0600);
  if (chown(agreement_path(wanted).c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "needs root, to make another user's file";

  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
  EXPECT_EQ(files_left(), 1U);
}

TEST_F(AgreementTest, TakesAnotherPrivateNameWhereOneIsTaken) {
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

TEST_F(AgreementTest, RefusesADirectoryOrAFifoInItsPlace) {
  const auto wanted = request(0, 2);
  fs::create_directory(agreement_path(wanted));
  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
  fs::remove(agreement_path(wanted));
  mkfifo(agreement_path(wanted).c_str(), 0600);

  EXPECT_EQ(agree(wanted).verdict, AgreementVerdict::unavailable);
}

TEST_F(AgreementTest, ReplacesASegmentOfAnotherLayout) {
  const auto path = agreement_path(request(0, 2));
  std::ofstream(path) << std::string(64 + 2 * 64, 'x');
  chmod(path.c_str(), 0600);

  for (const auto& outcome : agree_as_threads({request(0, 2), request(1, 2)}))
    EXPECT_EQ(outcome.verdict, AgreementVerdict::apply);
}

TEST_F(AgreementTest, SweepsWhatNobodyWillComeBackTo) {
  const pid_t killed = start_rank(request(0, 2));
  await_arrivals(request(0, 2), 1);
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  std::ofstream(folder_ + "/lanewise-4294967295-agree-1-2") << "another user's";
  constexpr std::uint64_t second_ns = 1'000'000'000;

  sweep_segments(folder_, monotonic_ns() + 60 * second_ns);
  EXPECT_EQ(files_left(), 2U);
  sweep_segments(folder_, monotonic_ns() + 75 * second_ns);

  EXPECT_EQ(files_left(), 1U);
}

TEST_F(AgreementTest, SaysWhichFolderIsMissing) {
  auto wanted = request(0, 2);
  wanted.folder = folder_ + "/none";

  const auto outcome = agree(wanted);

  EXPECT_EQ(outcome.verdict, AgreementVerdict::unavailable);
  EXPECT_NE(outcome.note.find("/none/"), std::string::npos);
}

}  // namespace
}  // namespace lanewise::host
