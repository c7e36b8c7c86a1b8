// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Counts of a process's all-reduces in shared memory: 64 KiB, read by `lanewise stats` of the same
// user through host/counters_report.hpp. The plugin and the direct layer write one counter a call.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/machine/topology.hpp"
#include "core/nccl/nccl_release.hpp"
#include "host/counters/counter_key.hpp"

namespace lanewise::host {

// What a communicator does with its choices; direct: the direct layer counts in this record.
enum class CountedMode : std::uint8_t { inert, observes, applies, direct };
[[nodiscard]] std::string_view name_of(CountedMode mode) noexcept;

struct CountersRequest {
  std::optional<std::uint64_t> communicator;  // NCCL's commId, where it is known
  int ranks = 0;
  NcclRelease release;
  std::optional<PciAddress> gpu;
  std::string folder = "/dev/shm";
};

// The file's layout. A process has one file, each communicator one record in it, and all share one
// open-addressed table. Numbers are written with relaxed stores: a reader sees counts of about now.
struct CounterHeader {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> process;  // start and pid
  std::atomic<std::uint64_t> pid_namespace;
  std::atomic<std::uint64_t> started_seconds;  // since 1970, UTC: of the first communicator
  std::atomic<std::uint64_t> release;
  std::atomic<std::uint64_t> used;  // entries of the table
  std::atomic<std::uint64_t> lost;  // calls that found no room
  char program[16];                 // as in /proc/PID/comm, ends with a zero
  // Why a profile that was found is not used, the first time each: of the whole profile, and for
  // some ranks or GPUs alone. A bit of `refusals_said` for each text that is complete.
  std::atomic<std::uint32_t> refusals_said;
  std::uint32_t reserved_word;
  char refusals[2][200];
  std::uint8_t reserved[32];
};
enum class RecordState : std::uint32_t { free, open, closed };
struct CommunicatorRecord {
  std::atomic<RecordState> state;
  std::atomic<std::uint32_t> ranks;
  std::atomic<std::uint64_t> communicator;
  std::atomic<std::uint64_t> gpu;  // packed, see pci_word.hpp; 0 where unknown
  std::atomic<CountedMode> mode;
  std::atomic<bool> is_identified;  // `communicator` is NCCL's
  std::atomic<bool> has_calls;
  std::atomic<std::uint32_t> users;  // of the last record: communicators that share it
  std::uint8_t reserved[32];
};
[[nodiscard]] inline bool is_open_record(const CommunicatorRecord& record) noexcept {
  return record.state == RecordState::open || record.users > 0;
}
struct CounterEntry {
  std::atomic<std::uint64_t> key;  // 0: free
  std::atomic<std::uint64_t> calls;
};
struct CountersFile {
  // The last record stands for all communicators that found no free one, and for closed ones whose
  // record another took; it is of 0 ranks where theirs differ.
  static constexpr std::size_t records_count = 256;
  static constexpr std::size_t entries_count = 3040;
  CounterHeader header;
  CommunicatorRecord records[records_count];
  CounterEntry entries[entries_count];
};
static_assert(sizeof(CountersFile) == 65536);

// Which part of a profile is refused.
enum class RefusedPart : std::uint8_t { profile, group };

class LiveCounters {
 public:
  // Joins or makes this process's file. Null where shared memory refuses; `note` then says why.
  [[nodiscard]] static std::unique_ptr<LiveCounters> open(const CountersRequest& request,
                                                          std::string& note);
  ~LiveCounters();
  LiveCounters(const LiveCounters&) = delete;
  LiveCounters& operator=(const LiveCounters&) = delete;

  void set_mode(CountedMode mode) noexcept;
  // For `lanewise stats`: the first of each part stays.
  void set_refusal(RefusedPart part, std::string_view why) noexcept;

  // Called by one thread at a time for one communicator, as NCCL does. No lock, no allocation, no
  // system call; nothing in a forked child, whose calls are not its parent's.
  // Returns the counter, null where there is no room.
  CounterEntry* record(const CountedCall& call) noexcept {
    if (is_owner_->load(std::memory_order_relaxed) == 0) return nullptr;
    const auto key = counter_key(call, record_index_);
    auto index = first_index(key);
    for (int probe = 0; probe < most_probes; ++probe) {
      auto& entry = file_->entries[index];
      const auto found = entry.key.load(std::memory_order_relaxed);
      if (found == key) return increment(entry);
      if (found == 0) break;
      index = next_index(index);
    }
    return record_new(key);
  }
  // One more call of a counter that record() returned.
  void record_again(CounterEntry& entry) noexcept {
    if (is_owner_->load(std::memory_order_relaxed) != 0) increment(entry);
  }

 private:
  struct Mapping;
  // Longer runs of taken entries mean a table too full to be worth searching.
  static constexpr int most_probes = 16;

  LiveCounters() = default;
  [[nodiscard]] static Mapping* share_mapping(const CountersRequest& request, std::string& note);
  void claim_record(const CountersRequest& request) noexcept;
  [[nodiscard]] bool take_record(bool (*is_takable)(const CommunicatorRecord&)) noexcept;
  void share_last_record(std::uint32_t ranks) noexcept;
  void hand_over_counts() noexcept;
  [[nodiscard]] CounterEntry* claim_entry(std::uint64_t key) noexcept;
  void release_mapping() noexcept;
  CounterEntry* record_new(std::uint64_t key) noexcept;
  [[nodiscard]] CounterEntry* try_count(std::uint64_t key) noexcept;

  // Multiplies by 2^64 over the golden ratio and scales the high half down to the table.
  static std::size_t first_index(std::uint64_t key) noexcept {
    const std::uint64_t mixed = key * 0x9e3779b97f4a7c15 >> 32;
    return static_cast<std::size_t>(mixed * CountersFile::entries_count >> 32);
  }
  static std::size_t next_index(std::size_t index) noexcept {
    return index + 1 == CountersFile::entries_count ? 0 : index + 1;
  }
  // One writer for each key, so no locked addition; the last record's keys have several.
  CounterEntry* increment(CounterEntry& entry) const noexcept {
    if (is_shared_)
      entry.calls.fetch_add(1, std::memory_order_relaxed);
    else
      entry.calls.store(entry.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return &entry;
  }

  CountersFile* file_ = nullptr;
  const std::atomic<std::uint32_t>* is_owner_ = nullptr;  // reads 0 in a forked child
  std::uint32_t record_index_ = 0;
  bool is_shared_ = false;
  Mapping* mapping_ = nullptr;
  static Mapping* current_;  // of this process: all its communicators write to one
};

}  // namespace lanewise::host
