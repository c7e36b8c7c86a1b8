// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a thread has called between ncclGroupStart and ncclGroupEnd. torch.distributed wraps every
// collective so; a group that holds more of one communicator goes to NCCL whole.
#include <memory>
#include <vector>

#include "intercept/communicator.hpp"

namespace lanewise::direct {

class CallGroup {
 public:
  // Of the calling thread.
  [[nodiscard]] static CallGroup& current();

  [[nodiscard]] bool is_open() const noexcept { return depth_ > 0; }
  void start() noexcept { ++depth_; }
  // True where the outermost group ends: flush() comes next.
  [[nodiscard]] bool end() noexcept { return depth_ > 0 && --depth_ == 0; }

  // Takes note of an all-reduce of a communicator that has a group: one to be decided at the end,
  // or one that has gone to NCCL already.
  void hold(const NcclAllReduce& call, std::shared_ptr<Communicator> communicator);
  void note_left(const std::shared_ptr<Communicator>& communicator);
  // Makes all that were held: those that are alone directly, in an order that is the same on all
  // ranks, the others in NCCL, whose group is still open.
  [[nodiscard]] NcclStatus flush() noexcept;
  // All that were held go to NCCL.
  [[nodiscard]] NcclStatus leave_all() noexcept;

 private:
  struct Held {
    NcclAllReduce call;
    std::shared_ptr<Communicator> communicator;
    bool is_left;  // to NCCL, already
  };
  [[nodiscard]] bool is_alone(const Held& held) const noexcept;

  int depth_ = 0;
  std::vector<Held> held_;
};

// NCCL's own all-reduce; counted where the communicator has a group.
[[nodiscard]] NcclStatus leave_to_nccl(const NcclAllReduce& call,
                                       Communicator* communicator = nullptr) noexcept;
// The group's, or NCCL's where the group declines.
[[nodiscard]] NcclStatus make_call(const NcclAllReduce& call, Communicator& communicator) noexcept;

}  // namespace lanewise::direct
