// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The agreement's board as a file in shared memory. Private to host/agreement.cpp.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/agreement/agreement.hpp"
#include "files/shared_file.hpp"
#include "host/agreement/agreement.hpp"

namespace lanewise::host {

// One cache line each, so that a rank's slot is written without disturbing the others.
struct alignas(64) SegmentHeader {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> communicator;
  std::atomic<std::uint64_t> deadline_ns;  // of its creator, on the monotonic clock
  std::atomic<std::uint32_t> ranks;
  std::atomic<std::uint32_t> word;
};
struct alignas(64) SegmentSlot {
  std::atomic<std::uint64_t> owner;  // start and pid of its process; claimed where not 0
  std::atomic<std::uint64_t> pid_namespace;
  std::atomic<std::uint64_t> digest;
  std::atomic<std::uint64_t> gpu;
  std::atomic<std::uint64_t> plan;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(SegmentHeader) == 64 && sizeof(SegmentSlot) == 64);

// Removes what killed processes left in `folder` under this user's names. `now_ns` is monotonic.
void sweep_segments(const std::string& folder, std::uint64_t now_ns);

[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

class ShmBoard {
 public:
  // Keeps the request's address: a temporary is refused.
  explicit ShmBoard(const AgreementRequest& request);
  explicit ShmBoard(AgreementRequest&&) = delete;

  [[nodiscard]] BoardAnswer open() noexcept;
  [[nodiscard]] bool create(std::uint64_t digest) noexcept;
  [[nodiscard]] BoardAnswer publish() noexcept;
  [[nodiscard]] AgreementWord load() const noexcept;
  [[nodiscard]] bool swap(AgreementWord& expected, AgreementWord next) noexcept;
  [[nodiscard]] bool claim(int slot) noexcept;
  void fill(int slot, std::uint64_t digest) noexcept;
  [[nodiscard]] std::uint64_t digest(int slot) const noexcept;
  void set_plan(int slot, std::uint64_t plan) noexcept;
  [[nodiscard]] std::uint64_t plan(int slot) const noexcept;
  [[nodiscard]] bool is_abandoned() const noexcept;
  void remove_name() noexcept;

  [[nodiscard]] std::optional<PciAddress> gpu(int slot) const noexcept;
  [[nodiscard]] bool has_dead_rank() const noexcept;
  // Sleeps until the word is no longer `seen`, or this long.
  void wait(AgreementWord seen, std::chrono::nanoseconds limit) const noexcept;
  // Unmaps and closes; the name and what it stood for stay known to remove_name().
  void release() noexcept { file_.release(); }
  [[nodiscard]] std::string note() const { return file_.note(); }

 private:
  [[nodiscard]] SegmentHeader& header() const noexcept {
    return *static_cast<SegmentHeader*>(file_.memory());
  }
  [[nodiscard]] SegmentSlot& slot_at(int slot) const noexcept;
  [[nodiscard]] bool is_ours() const noexcept;

  const AgreementRequest& request_;
  SharedFile file_;
};

}  // namespace lanewise::host
