// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The memory that a rank_group's ranks and its driver share: one request at a time, its answer, a
// barrier, and what each rank is doing. Anonymous (memfd): nothing is left in /dev/shm.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lanewise::bench {

inline constexpr int max_ranks = 64;
// Longest request and answer. Untouched pages cost nothing; a sweep's answer is some 100 KiB.
inline constexpr std::size_t message_bytes = std::size_t{8} << 20U;

struct Message {
  std::atomic<std::uint32_t> number{0};  // counts up with each message
  std::uint32_t length = 0;
  std::array<char, message_bytes> text{};
};

// Written by its rank alone.
struct alignas(64) RankSlot {
  std::atomic<std::uint32_t> progress{0};  // phases begun
  std::atomic<std::uint32_t> has_failed{0};
  std::atomic<std::uint32_t> candidate{0};  // number of the one being run, from 1; 0: none
  std::array<char, 128> phase{};
  std::array<char, 512> error{};
  std::array<std::uint64_t, 64> words{};  // for RankLink::gather
};

struct BlockLayout {
  int ranks = 0;
  std::array<char, 128> unique_id{};     // ncclUniqueId
  std::atomic<std::uint32_t> joined{0};  // processes of mpirun or torchrun that are in
  // Rank 0's process where they join by name: one that is dead left this behind. See
  // host::ProcessIdentity; 0 until all else is written.
  std::uint64_t owner_namespace = 0;
  std::atomic<std::uint64_t> owner{0};
  std::atomic<std::uint32_t> arrived{0};
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::uint32_t> any_failed{0};
  std::array<RankSlot, max_ranks> slots{};
  Message request;
  Message answer;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// A mapping of the block; the file descriptor survives posix_spawn.
class SharedBlock {
 public:
  // Throws std::runtime_error where the system refuses memory.
  static SharedBlock create(int ranks);
  // Of a descriptor that the parent process passed on.
  static SharedBlock attach(int descriptor);

  // The same under a name, for processes that have no common parent of ours: remove_name once all
  // are in. attach_named waits for up to a minute for it to appear;
  // what a run that was killed has left is not taken for it.
  static SharedBlock create_named(const std::string& name, int ranks);
  static SharedBlock attach_named(const std::string& name);
  static void remove_name(const std::string& name) noexcept;

  SharedBlock(SharedBlock&& other) noexcept;
  SharedBlock& operator=(SharedBlock&&) = delete;
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;
  ~SharedBlock();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] BlockLayout& layout() const noexcept { return *layout_; }

 private:
  SharedBlock(int descriptor, BlockLayout* layout) : descriptor_(descriptor), layout_(layout) {}
  int descriptor_;
  BlockLayout* layout_;
};

}  // namespace lanewise::bench
