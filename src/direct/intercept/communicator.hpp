// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What stands beside an NCCL communicator: its group, if its ranks have agreed on one, and the name
// from which those of its children are made.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "direct/group.hpp"
#include "host/counters/live_counters.hpp"
#include "host/process/process_identity.hpp"
#include "intercept/direct_settings.hpp"
#include "intercept/nccl_abi.hpp"

namespace lanewise::direct {

class Communicator {
 public:
  explicit Communicator(std::uint64_t name) : name_(name) {}
  // Waits for the calls, unless a rank is dead. A group that runs on even so is leaked: its kernels
  // use its memory.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // Agrees with the other ranks; where they do not, all stay with NCCL and one line says why. All
  // ranks at the same time. Never throws.
  void join(int rank, int ranks, const DirectSettings& settings) noexcept;
  // Lets the others know that this rank will not join.
  void stay_away(int ranks, const DirectSettings& settings) noexcept;

  [[nodiscard]] bool has_group() const noexcept { return group_ != nullptr; }
  // Whether the call is one of those that go to the group: the same on every rank.
  [[nodiscard]] bool takes(const NcclAllReduce& call) const noexcept;
  // Queues it, and counts it. Declined: it goes to NCCL, on every rank.
  [[nodiscard]] Taken launch(const NcclAllReduce& call) noexcept;

  // For `lanewise stats`: one that this communicator has a group for and leaves to NCCL.
  void count_left(const NcclAllReduce& call) noexcept;

  // Of the n-th child, with what tells the children of one moment apart. Counts.
  [[nodiscard]] std::uint64_t name_child(std::span<const int> distinction) noexcept;

  void abort() noexcept;
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::uint64_t name() const noexcept { return name_; }

 private:
  void agree(int rank, int ranks, const DirectSettings& settings);
  void open_counters(const DirectSettings& settings);
  [[nodiscard]] bool has_dead_peer() const noexcept;

  std::uint64_t name_;
  std::atomic<std::uint64_t> children_{0};
  std::atomic<std::uint64_t> taken_{0};
  int ranks_ = 0;
  std::vector<SizeRange> ranges_;
  std::vector<host::ProcessIdentity> peers_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<host::LiveCounters> counters_;  // null: not counted
  std::atomic<bool> is_aborted_{false};
  bool is_verbose_ = false;
};

// All that this process knows, by NCCL's handle. No lock is held while a call is made.
class Communicators {
 public:
  void add(NcclComm handle, std::shared_ptr<Communicator> communicator);
  [[nodiscard]] std::shared_ptr<Communicator> find(NcclComm handle) const;
  std::shared_ptr<Communicator> remove(NcclComm handle);
  // For the end of the process.
  void abort_all() noexcept;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<NcclComm, std::shared_ptr<Communicator>> all_;
};

// Never destroyed: threads may end after it would have been.
[[nodiscard]] Communicators& communicators();

}  // namespace lanewise::direct
