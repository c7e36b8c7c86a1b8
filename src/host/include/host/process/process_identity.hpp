// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which process this is, in words that shared memory can hold and another process can check.
#include <cstdint>

namespace lanewise::host {

struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint32_t start = 0;          // low half of its start, in clock ticks since boot
  std::uint64_t pid_namespace = 0;  // inode of its namespace; 0 where unknown
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;

  // Pid and start as one word, never 0; it goes with the namespace.
  [[nodiscard]] constexpr std::uint64_t word() const noexcept {
    return std::uint64_t{start} << 32 | pid;
  }
  [[nodiscard]] static constexpr ProcessIdentity from_word(std::uint64_t word,
                                                           std::uint64_t pid_namespace) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32),
            pid_namespace};
  }
};

// Read anew each time: a forked child is another process.
[[nodiscard]] ProcessIdentity this_process() noexcept;

enum class Liveness : std::uint8_t { alive, dead, unknown };

// `unknown` for a process of another pid namespace. A pid that was given to a later process is
// dead, and so is a zombie whose last thread is gone.
[[nodiscard]] Liveness liveness_of(const ProcessIdentity& process) noexcept;

}  // namespace lanewise::host
