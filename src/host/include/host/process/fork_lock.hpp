// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A lock for the work of an init that survives a fork: a child that finds it held by a thread of
// its parent, which it does not have, takes it over. For std::lock_guard.
#include <atomic>
#include <cstdint>

namespace lanewise::host {

// What it guards may be half-changed in such a child: publish it in one store, at the end.
class ForkLock {
 public:
  constexpr ForkLock() noexcept = default;
  ForkLock(const ForkLock&) = delete;
  ForkLock& operator=(const ForkLock&) = delete;

  void lock() noexcept;
  void unlock() noexcept;

 private:
  std::atomic<std::uint32_t> holder_{0};  // the process whose thread has it; 0: none
};

}  // namespace lanewise::host
