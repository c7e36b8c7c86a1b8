// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "host/agreement/agreement.hpp"

namespace lanewise::host {
namespace {

using namespace std::chrono_literals;

AgreementRequest request(const std::string& folder, std::chrono::milliseconds limit) {
  AgreementRequest wanted;
  wanted.communicator = 0x6b696c6c;
  wanted.ranks = 3;
  wanted.digest = 7;
  wanted.limit = limit;
  wanted.folder = folder;
  return wanted;
}

enum class Tracing { none, by_parent };

// A rank as a process; its exit status is its verdict.
pid_t start_rank(const AgreementRequest& wanted, Tracing tracing) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (tracing == Tracing::by_parent) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
  }
  Agreement agreement(wanted);
  if (agreement.gather()) (void)agreement.commit(1);
  _exit(static_cast<int>(agreement.verdict()));
}

std::optional<AgreementVerdict> verdict_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return std::nullopt;
  return static_cast<AgreementVerdict>(WEXITSTATUS(status));
}

// Kills the traced child where it enters or leaves its `step`th system call. False: it ended first.
bool kill_at(pid_t child, int step) {
  int status = 0;
  waitpid(child, &status, 0);
  for (int stop = 0; stop < step; ++stop) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) return false;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

// Between two system calls a rank makes at most one change that others see, so this is every step.
TEST(AgreementKill, AtAnyStepLeavesTheOthersUnitedAndTheNameUsable) {
  std::string folder = "/dev/shm/lanewise-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  int step = 1;
  for (bool was_killed = true; was_killed; ++step) {
    const pid_t victim = start_rank(request(folder, 40ms), Tracing::by_parent);
    const pid_t first = start_rank(request(folder, 40ms), Tracing::none);
    const pid_t second = start_rank(request(folder, 40ms), Tracing::none);
    was_killed = kill_at(victim, step);
    const auto one = verdict_of(first);
    const auto other = verdict_of(second);

    ASSERT_TRUE(one && other) << "step " << step;
    ASSERT_EQ(*one == AgreementVerdict::apply, *other == AgreementVerdict::apply)
        << "step " << step;

    std::array<pid_t, 3> successors{};
    for (auto& successor : successors) successor = start_rank(request(folder, 20s), Tracing::none);
    for (const auto successor : successors)
      ASSERT_EQ(verdict_of(successor), AgreementVerdict::apply) << "after step " << step;
  }
  EXPECT_GT(step, 40);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lanewise::host
