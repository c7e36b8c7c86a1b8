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
#include <utility>

#include "host/agreement.hpp"
#include "lanewise/agreement.hpp"

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

// Identifies a file for as long as somebody has it open or linked.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// Unlinks `path` if it still is `file`. Every process that frees a name does it under a lock on
// that very file, so the name of a newer one is never freed in its place.
void remove_segment(const std::string& path, const FileIdentity& file) noexcept;

// Removes what killed processes left in `folder` under this user's names. `now_ns` is monotonic.
void sweep_segments(const std::string& folder, std::uint64_t now_ns) noexcept;

[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

class ShmBoard {
 public:
  explicit ShmBoard(const AgreementRequest& request);
  ~ShmBoard();
  ShmBoard(const ShmBoard&) = delete;
  ShmBoard& operator=(const ShmBoard&) = delete;

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
  void release() noexcept;
  // What refused: an errno value and what was tried.
  [[nodiscard]] std::string note() const;

 private:
  enum class Check : std::uint8_t { ours, damaged, foreign };
  [[nodiscard]] Check check_file() noexcept;
  [[nodiscard]] bool map() noexcept;
  [[nodiscard]] int open_private() noexcept;
  void drop_private() noexcept;
  [[nodiscard]] SegmentSlot& slot_at(int slot) const noexcept;
  [[nodiscard]] std::size_t size_bytes() const noexcept;
  void refuse(const char* action, int error) noexcept;

  const AgreementRequest& request_;
  const std::string path_;
  std::string private_path_;  // space is reserved up front: naming never allocates
  bool has_private_ = false;
  int file_ = -1;
  void* memory_ = nullptr;
  std::optional<FileIdentity> identity_;
  const char* refused_action_ = nullptr;
  int refused_error_ = 0;
};

}  // namespace lanewise::host
