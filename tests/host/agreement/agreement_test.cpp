// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/agreement/agreement.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "agreement/agreement_shm.hpp"
#include "agreement_fixture.hpp"

namespace lanewise::host {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

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

int verdict_of_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(AgreementTest, ProcessesApply) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < 4; ++rank) children.push_back(start_rank(request(rank, 4)));

  for (const auto child : children)
    EXPECT_EQ(verdict_of_child(child), static_cast<int>(AgreementVerdict::apply));
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

TEST_F(AgreementTest, SweepsWhatNobodyWillComeBackTo) {
  const pid_t killed = start_rank(request(0, 2));
  await_arrivals(request(0, 2), 1);
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  const std::string foreign = folder_ + "/lanewise-4294967295-agree-1-2";
  std::ofstream(foreign) << "another user's";
  fs::last_write_time(foreign, fs::file_time_type::clock::now() - 2h);
  constexpr std::uint64_t second_ns = 1'000'000'000;

  sweep_segments(folder_, monotonic_ns() + 60 * second_ns);
  EXPECT_EQ(files_left(), 2U);
  sweep_segments(folder_, monotonic_ns() + 75 * second_ns);

  EXPECT_EQ(files_left(), 1U);
}

}  // namespace
}  // namespace lanewise::host
