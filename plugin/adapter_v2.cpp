// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "context.hpp"
#include "guard.hpp"
#include "translate.hpp"

namespace lanewise::plugin {
namespace {

// From the next one on NCCL takes our v3.
constexpr host::ReleaseBounds releases{.first = {2, 21, 5}, .end = NcclRelease{2, 22, 0}};

abi::Result init(std::size_t ranks, std::size_t nodes, abi::DebugLogger logger,
                 void** context) noexcept {
  return guarded(logger, [&, caller = __builtin_return_address(0)] {
    open_context(context, {.ranks = ranks,
                           .nodes = nodes,
                           .logger = logger,
                           .communicator = std::nullopt,
                           .costs = CostTableAccess::without_table,
                           .releases = releases,
                           .caller = caller});
  });
}

// No table to check against: the user's NCCL_ALGO and NCCL_PROTO are honoured by Context.
abi::Result get_coll_info(void* context, abi::Function function, std::size_t bytes, int, int,
                          int pipe_ops, int* algorithm, int* protocol, int* channels) noexcept {
  return guarded(nullptr, [&] {
    answer(context, {function, bytes, pipe_ops}, {}, {algorithm, protocol, channels});
  });
}

abi::Result destroy(void* context) noexcept {
  return guarded(nullptr, [&] { close_context(context); });
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] abi::TunerV2 ncclTunerPlugin_v2 = {
    .name = "lanewise", .init = init, .get_coll_info = get_coll_info, .destroy = destroy};
}

}  // namespace lanewise::plugin
