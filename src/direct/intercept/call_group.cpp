// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "intercept/call_group.hpp"

#include <algorithm>
#include <utility>

#include "intercept/nccl_functions.hpp"

namespace lanewise::direct {
namespace {

constexpr std::size_t usual_calls = 8;

}  // namespace

CallGroup& CallGroup::current() {
  thread_local CallGroup group;
  return group;
}

void CallGroup::hold(const NcclAllReduce& call, std::shared_ptr<Communicator> communicator) {
  if (held_.capacity() == 0) held_.reserve(usual_calls);
  held_.push_back({call, std::move(communicator), false});
}

void CallGroup::note_left(const std::shared_ptr<Communicator>& communicator) {
  held_.push_back({{}, communicator, true});
}

bool CallGroup::is_alone(const Held& held) const noexcept {
  return std::count_if(held_.begin(), held_.end(), [&](const Held& other) {
           return other.communicator == held.communicator;
         }) == 1;
}

NcclStatus CallGroup::flush() noexcept {
  std::stable_sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) {
    return a.communicator->name() < b.communicator->name();
  });
  NcclStatus status = nccl_success;
  for (const Held& held : held_) {
    if (held.is_left || status != nccl_success) continue;
    status = is_alone(held) ? make_call(held.call, *held.communicator)
                            : leave_to_nccl(held.call, held.communicator.get());
  }
  held_.clear();
  return status;
}

NcclStatus CallGroup::leave_all() noexcept {
  NcclStatus status = nccl_success;
  for (const Held& held : held_) {
    if (!held.is_left && status == nccl_success) status = leave_to_nccl(held.call);
  }
  held_.clear();
  return status;
}

NcclStatus leave_to_nccl(const NcclAllReduce& call, Communicator* communicator) noexcept {
  if (communicator != nullptr) communicator->count_left(call);
  return ask_nccl(nccl_functions().all_reduce, call.in, call.out, call.count, call.type,
                  call.operation, call.communicator, call.stream);
}

NcclStatus make_call(const NcclAllReduce& call, Communicator& communicator) noexcept {
  switch (communicator.launch(call)) {
    case Taken::done:
      return nccl_success;
    case Taken::declined:
      return leave_to_nccl(call, &communicator);
    case Taken::failed:
      break;
  }
  return nccl_unhandled_cuda_error;
}

}  // namespace lanewise::direct
