// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/process_identity.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace lanewise::host {
namespace {

TEST(ProcessIdentity, OfThisProcessIsAlive) {
  const auto self = this_process();

  EXPECT_EQ(liveness_of(self), Liveness::alive);
  EXPECT_EQ(ProcessIdentity::from_word(self.word(), self.pid_namespace), self);
}

TEST(ProcessIdentity, OfAnEarlierProcessOfTheSameNumberIsDead) {
  auto earlier = this_process();
  --earlier.start;

  EXPECT_EQ(liveness_of(earlier), Liveness::dead);
}

TEST(ProcessIdentity, OfAnotherPidNamespaceIsUnknown) {
  auto elsewhere = this_process();
  ++elsewhere.pid_namespace;
  EXPECT_EQ(liveness_of(elsewhere), Liveness::unknown);

  elsewhere.pid_namespace = 0;
  EXPECT_EQ(liveness_of(elsewhere), Liveness::unknown);
}

TEST(ProcessIdentity, OfAProcessThatEndedIsDeadAlsoBeforeItIsWaitedFor) {
  auto child = this_process();
  child.start = 0;  // not looked at where it is not known
  child.pid = static_cast<std::uint32_t>(fork());
  if (child.pid == 0) {
    pause();
    _exit(0);
  }
  const auto pid = static_cast<pid_t>(child.pid);
  EXPECT_EQ(liveness_of(child), Liveness::alive);

  kill(pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, child.pid, &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(liveness_of(child), Liveness::dead);

  waitpid(pid, nullptr, 0);
  EXPECT_EQ(liveness_of(child), Liveness::dead);
}

}  // namespace
}  // namespace lanewise::host
