// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/fork_lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lanewise::host {

void ForkLock::lock() noexcept {
  const auto self = static_cast<std::uint32_t>(getpid());
  for (;;) {
    std::uint32_t holder = 0;
    if (holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) return;
    // A thread of the parent: it will never give it back here.
    if (holder != self && holder_.compare_exchange_strong(holder, self, std::memory_order_acquire))
      return;
    syscall(SYS_futex, &holder_, FUTEX_WAIT_PRIVATE, self, nullptr, nullptr, 0);
  }
}

void ForkLock::unlock() noexcept {
  holder_.store(0, std::memory_order_release);
  syscall(SYS_futex, &holder_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace lanewise::host
