// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/bounded_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace lanewise::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int remaining_ms(steady_clock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

}  // namespace

BoundedCommand::BoundedCommand(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (::posix_spawnp(&child_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0)
    child_ = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  output_ = ends[0];
}

BoundedCommand::~BoundedCommand() { stop(); }

void BoundedCommand::stop() noexcept {
  if (output_ >= 0) ::close(output_);
  output_ = -1;
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  // One that hangs in the driver cannot be waited for; init inherits it.
  for (int tries = 0; tries < 20 && ::waitpid(child_, nullptr, WNOHANG) == 0; ++tries)
    ::usleep(1000);
  child_ = -1;
}

std::string BoundedCommand::collect(steady_clock::time_point end) {
  std::string text;
  std::array<char, 4096> buffer{};
  bool is_done = child_ <= 0;
  while (!is_done) {
    pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, remaining_ms(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    const auto count = ::read(output_, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    is_done = count <= 0;
  }
  int status = 0;
  const bool is_gone = child_ > 0 && ::waitpid(child_, &status, 0) == child_;
  if (is_gone) child_ = -1;
  return is_gone && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : std::string();
}

}  // namespace lanewise::host
