// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One rank's side of a group that all-reduces through memory that all its ranks see, without NCCL.
// One machine, 2 to 16 ranks, threads or processes. Sums are made in float in the order of ranks
// and rounded once, so all ranks get the same bits.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "direct/forms.hpp"
#include "direct/kernel_plan.hpp"

struct CUstream_st;

namespace lanewise::direct {

struct GroupOptions {
  std::size_t max_bytes = 0;  // of one call
  std::size_t ll_bytes = 0;   // of one call in LL form, beside what usual_form() gives to it
  int graphs = 0;             // captures that have a slot set of their own
  int most_blocks = most_kernel_blocks;  // of one kernel
  bool may_use_gpu = true;               // false: host memory also where all ranks share one GPU
};

struct GroupMemory {
  Place place = Place::host;
  std::size_t shared_bytes = 0;  // of all ranks
  std::size_t rank_bytes = 0;    // of one of them
};

// Done: queued. Declined: nothing was, for a reason that all ranks share. Failed: the driver
// refused.
enum class Taken : std::uint8_t { done, declined, failed };

// How a call was queued.
struct Queued {
  Form form = Form::one_shot_ll;
  bool is_captured = false;
};

class Group {
 public:
  // The words of all ranks in rank order, up to 32 of each. Throws where a rank does not come.
  using Gather = std::function<std::vector<std::uint64_t>(std::span<const std::uint64_t>)>;

  // On the current device. All ranks construct at the same time with the same options. Throws Error
  // that says which rank has which trouble; then it throws on all of them.
  Group(int rank, int ranks, const Gather& gather, const GroupOptions& options);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  // Only when nothing of it runs any more: see drain().
  ~Group();

  // Queues the sum over all ranks. All ranks call in the same order with the same count, element
  // and form; calls of one rank follow each other, whatever their streams. Under capture the calls
  // go into a slot set of that graph, so a graph may be replayed beside eager calls and other
  // graphs. One instance of a graph runs at a time. Any alignment of the element; in place or not.
  // From any thread. Allocates nothing and does not wait.
  [[nodiscard]] Taken launch(CUstream_st* stream, const void* in, void* out, std::size_t count,
                             Element element, std::optional<Form> form,
                             Queued* queued = nullptr) noexcept;

  // Releases every kernel that waits, now and later; their sums are not to be used.
  void abort() noexcept;
  // Waits until the eager calls are done or `is_hopeless`, asked now and then, says so; then it
  // releases them. False where they do not end even so: the group must be leaked.
  [[nodiscard]] bool drain(const std::function<bool()>& is_hopeless) noexcept;

  [[nodiscard]] const GroupMemory& memory() const noexcept;
  // The driver's words for the last failure; empty where there was none.
  [[nodiscard]] std::string failure() const;

 private:
  class Member;
  std::unique_ptr<Member> member_;
};

}  // namespace lanewise::direct
