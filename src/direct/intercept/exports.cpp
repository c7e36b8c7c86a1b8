// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// The functions of NCCL that the direct libraries stand in for. Each is NCCL's own where nothing is
// to be done directly, and none holds a lock over a call into NCCL.
#include <unistd.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/agreement/digest.hpp"
#include "intercept/call_group.hpp"
#include "intercept/communicator.hpp"
#include "intercept/direct_settings.hpp"
#include "intercept/nccl_functions.hpp"

namespace lanewise::direct {
namespace {

pid_t owner = 0;  // the process whose communicators these are; a forked child has none

bool is_off() noexcept { return is_inside_nccl() || direct_settings().ranges.empty(); }

std::uint64_t name_of_id(const NcclUniqueId& id) noexcept {
  return Digest().add("direct").add(std::string_view(id.bytes, sizeof(id.bytes))).value();
}

bool is_blocking(const NcclConfig* config) noexcept {
  return config == nullptr || config->blocking != 0;
}

// A communicator that NCCL has just made, blocking and outside any group, joins the others.
void add_made(NcclComm handle, std::uint64_t name, int rank, int ranks, bool can_join) noexcept {
  try {
    auto communicator = std::make_shared<Communicator>(name);
    if (can_join && !CallGroup::current().is_open()) {
      communicator->join(rank, ranks, direct_settings());
    } else {
      communicator->stay_away(ranks, direct_settings());
    }
    owner = getpid();
    communicators().add(handle, std::move(communicator));
  } catch (const std::exception&) {  // it stays NCCL's alone
  }
}

void add_child(NcclComm handle, std::uint64_t name, bool can_join) noexcept {
  int ranks = 0;
  int rank = 0;
  if (handle == nullptr || CallGroup::current().is_open()) return;
  if (ask_nccl(nccl_functions().count, handle, &ranks) != nccl_success) return;
  if (ask_nccl(nccl_functions().user_rank, handle, &rank) != nccl_success) return;
  add_made(handle, name, rank, ranks, can_join);
}

// A name that was counted on every rank of the parent, also on those that get no child.
std::optional<std::uint64_t> name_child(NcclComm parent, std::span<const int> distinction) {
  if (is_off()) return std::nullopt;
  const auto found = communicators().find(parent);
  if (!found) return std::nullopt;
  return found->name_child(distinction);
}

NcclStatus route(const NcclAllReduce& call) {
  if (is_off()) return leave_to_nccl(call);
  auto communicator = communicators().find(call.communicator);
  if (!communicator || !communicator->has_group()) return leave_to_nccl(call);
  auto& group = CallGroup::current();
  if (!communicator->takes(call)) {
    if (group.is_open()) group.note_left(communicator);
    return leave_to_nccl(call, communicator.get());
  }
  if (!group.is_open()) return make_call(call, *communicator);
  group.hold(call, std::move(communicator));
  return nccl_success;
}

NcclStatus all_reduce(const NcclAllReduce& call) noexcept {
  try {
    return route(call);
  } catch (const std::exception&) {
    return nccl_internal_error;
  }
}

// What the group was told to do directly is queued while NCCL's own group is still open.
NcclStatus end_group(bool is_simulated, NcclStatus (*function)(void*), void* argument) {
  NcclStatus held = nccl_success;
  auto& group = CallGroup::current();
  if (!is_inside_nccl() && group.end()) held = is_simulated ? group.leave_all() : group.flush();
  const NcclStatus status = ask_nccl(function, argument);
  return held != nccl_success ? held : status;
}

// The end of the process releases what still waits. It must not touch a parent's memory.
__attribute__((destructor)) void release_at_end() {
  if (owner == getpid()) communicators().abort_all();
}

}  // namespace
}  // namespace lanewise::direct

using namespace lanewise::direct;

#define LANEWISE_EXPORT extern "C" __attribute__((visibility("default")))

LANEWISE_EXPORT NcclStatus ncclAllReduce(const void* in, void* out, std::size_t count, int type,
                                         int operation, NcclComm handle,
                                         CUstream_st* stream) noexcept {
  return all_reduce({in, out, count, type, operation, handle, stream});
}

LANEWISE_EXPORT NcclStatus ncclCommInitRank(NcclComm* handle, int ranks, NcclUniqueId id,
                                            int rank) noexcept {
  const auto status = ask_nccl(nccl_functions().init_rank, handle, ranks, id, rank);
  if (status == nccl_success && !is_off()) add_made(*handle, name_of_id(id), rank, ranks, true);
  return status;
}

LANEWISE_EXPORT NcclStatus ncclCommInitRankConfig(NcclComm* handle, int ranks, NcclUniqueId id,
                                                  int rank, NcclConfig* config) noexcept {
  const auto status = ask_nccl(nccl_functions().init_rank_config, handle, ranks, id, rank, config);
  if (!is_off() && (status == nccl_success || status == nccl_in_progress))
    add_made(*handle, name_of_id(id), rank, ranks, status == nccl_success && is_blocking(config));
  return status;
}

LANEWISE_EXPORT NcclStatus ncclCommInitRankScalable(NcclComm* handle, int ranks, int rank, int ids,
                                                    NcclUniqueId* id, NcclConfig* config) noexcept {
  const auto status =
      ask_nccl(nccl_functions().init_rank_scalable, handle, ranks, rank, ids, id, config);
  if (!is_off() && (status == nccl_success || status == nccl_in_progress))
    add_made(*handle, name_of_id(*id), rank, ranks, status == nccl_success && is_blocking(config));
  return status;
}

// One thread makes them all, so that they cannot agree: they stay with NCCL.
LANEWISE_EXPORT NcclStatus ncclCommInitAll(NcclComm* handles, int count,
                                           const int* devices) noexcept {
  return ask_nccl(nccl_functions().init_all, handles, count, devices);
}

LANEWISE_EXPORT NcclStatus ncclCommSplit(NcclComm parent, int color, int key, NcclComm* child,
                                         NcclConfig* config) noexcept {
  const auto name = name_child(parent, std::span(&color, 1));
  const auto status = ask_nccl(nccl_functions().split, parent, color, key, child, config);
  if (name && status == nccl_success && color != nccl_no_color)
    add_child(*child, *name, is_blocking(config));
  return status;
}

LANEWISE_EXPORT NcclStatus ncclCommShrink(NcclComm parent, int* excluded, int excluded_count,
                                          NcclComm* child, NcclConfig* config, int flags) noexcept {
  const auto name = name_child(
      parent, std::span<const int>(excluded, excluded != nullptr && excluded_count > 0
                                                 ? static_cast<std::size_t>(excluded_count)
                                                 : 0));
  const auto status =
      ask_nccl(nccl_functions().shrink, parent, excluded, excluded_count, child, config, flags);
  if (name && status == nccl_success) add_child(*child, *name, is_blocking(config));
  return status;
}

// A communicator that ends in trouble must not leave kernels that wait for ever.
LANEWISE_EXPORT NcclStatus ncclCommFinalize(NcclComm handle) noexcept {
  const auto status = ask_nccl(nccl_functions().finalize, handle);
  if (is_inside_nccl() || status == nccl_success || status == nccl_in_progress) return status;
  if (const auto communicator = communicators().find(handle)) communicator->abort();
  return status;
}

LANEWISE_EXPORT NcclStatus ncclCommDestroy(NcclComm handle) noexcept {
  if (!is_inside_nccl()) static_cast<void>(communicators().remove(handle));
  return ask_nccl(nccl_functions().destroy, handle);
}

LANEWISE_EXPORT NcclStatus ncclCommAbort(NcclComm handle) noexcept {
  if (is_inside_nccl()) return ask_nccl(nccl_functions().abort, handle);
  const auto communicator = communicators().remove(handle);
  if (communicator) communicator->abort();
  return ask_nccl(nccl_functions().abort, handle);
}

LANEWISE_EXPORT NcclStatus ncclCommRevoke(NcclComm handle, int flags) noexcept {
  if (!is_inside_nccl()) {
    if (const auto communicator = communicators().find(handle)) communicator->abort();
  }
  return ask_nccl(nccl_functions().revoke, handle, flags);
}

LANEWISE_EXPORT NcclStatus ncclGroupStart() noexcept {
  if (!is_off()) CallGroup::current().start();
  return ask_nccl(nccl_functions().group_start);
}

LANEWISE_EXPORT NcclStatus ncclGroupEnd() noexcept {
  const auto end = [](void*) { return ask_nccl(nccl_functions().group_end); };
  return end_group(false, end, nullptr);
}

LANEWISE_EXPORT NcclStatus ncclGroupSimulateEnd(void* information) noexcept {
  return end_group(true, nccl_functions().group_simulate_end, information);
}
