// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/process_identity.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace lanewise::host {
namespace {

struct ProcessStat {
  char state = '?';
  long threads = 0;
  std::uint32_t start = 0;
};

// Fields of /proc/PID/stat, counted from 1 as in proc(5).
constexpr int field_state = 3;
constexpr int field_threads = 20;
constexpr int field_start = 22;

// The name in the second field may hold spaces and parentheses, so fields count from the last one.
std::optional<ProcessStat> parse_stat(char* text) noexcept {
  char* position = std::strrchr(text, ')');
  if (position == nullptr) return std::nullopt;
  ProcessStat stat;
  char* rest = nullptr;
  int field = field_state;
  for (char* word = strtok_r(position + 1, " ", &rest); word != nullptr;
       word = strtok_r(nullptr, " ", &rest), ++field) {
    if (field == field_state) stat.state = *word;
    if (field == field_threads) stat.threads = std::strtol(word, nullptr, 10);
    if (field == field_start) {
      stat.start = static_cast<std::uint32_t>(std::strtoull(word, nullptr, 10));
      return stat;
    }
  }
  return std::nullopt;
}

std::optional<ProcessStat> read_stat(std::uint32_t pid) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/%u/stat", pid);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 1024> text{};
  const auto length = read(file, text.data(), text.size() - 1);
  close(file);
  if (length <= 0) return std::nullopt;
  return parse_stat(text.data());
}

}  // namespace

ProcessIdentity this_process() noexcept {
  ProcessIdentity self;
  self.pid = static_cast<std::uint32_t>(getpid());
  if (const auto stat = read_stat(self.pid)) self.start = stat->start;
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0) self.pid_namespace = space.st_ino;
  return self;
}

Liveness liveness_of(const ProcessIdentity& process) noexcept {
  struct stat space {};
  if (process.pid_namespace == 0 || process.pid == 0 || stat("/proc/self/ns/pid", &space) != 0 ||
      space.st_ino != process.pid_namespace)
    return Liveness::unknown;
  const auto stat = read_stat(process.pid);
  if (!stat) {
    const bool is_gone = kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH;
    return is_gone ? Liveness::dead : Liveness::unknown;
  }
  if (process.start != 0 && stat->start != process.start) return Liveness::dead;
  const bool is_zombie = stat->state == 'Z' || stat->state == 'X';
  return is_zombie && stat->threads <= 1 ? Liveness::dead : Liveness::alive;
}

}  // namespace lanewise::host
