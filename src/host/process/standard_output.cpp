// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/standard_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "core/error.hpp"
#include "host/process/exit_status.hpp"

namespace lanewise::host {
namespace {

constexpr int exit_closed_pipe = 128 + SIGPIPE;

// stdio forgets why an earlier write failed; a pipe without readers still tells.
bool has_no_reader() noexcept {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

void hold_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest that is free is this one. Reading from it ends at once, writing to it fails.
    const int flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // NOLINTNEXTLINE(*-vararg): open has no other form.
    if (open("/dev/null", flags | O_CLOEXEC) < 0) return;
  }
}

void flush_standard_output() {
  errno = 0;
  std::cout.flush();  // which is stdout's own flush
  const bool is_flushed = std::fflush(stdout) == 0;
  const int cause = errno;
  if (is_flushed && std::ferror(stdout) == 0) return;
  if (cause == EPIPE || has_no_reader()) throw Exit{exit_closed_pipe};
  throw Error("cannot write standard output" +
              (cause == 0 ? "" : ": " + std::generic_category().message(cause)));
}

}  // namespace lanewise::host
