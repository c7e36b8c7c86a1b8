// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "context.hpp"
#include "guard.hpp"
#include "translate.hpp"

namespace lanewise::plugin {
namespace {

// From the next one on NCCL takes our v5.
constexpr host::ReleaseBounds releases{.first = {2, 24, 3}, .end = NcclRelease{2, 28, 0}};

abi::Result init(std::size_t ranks, std::size_t nodes, abi::DebugLogger logger,
                 void** context) noexcept {
  return guarded(logger, [&, caller = __builtin_return_address(0)] {
    open_context(context, {.ranks = ranks,
                           .nodes = nodes,
                           .logger = logger,
                           .communicator = std::nullopt,
                           .costs = CostTableAccess::with_table,
                           .releases = releases,
                           .caller = caller});
  });
}

// Registration of the buffers is rank-local, so it must not decide anything.
abi::Result get_coll_info(void* context, abi::Function function, std::size_t bytes, int pipe_ops,
                          float** table, int algorithms, int protocols, int registered,
                          int* channels) noexcept {
  return guarded(nullptr, [&] {
    answer(context, {function, bytes, pipe_ops, to_buffers(registered)},
           to_cost_table(table, algorithms, protocols), {nullptr, nullptr, channels});
  });
}

abi::Result destroy(void* context) noexcept {
  return guarded(nullptr, [&] { close_context(context); });
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] abi::TunerV4 ncclTunerPlugin_v4 = {
    .name = "lanewise", .init = init, .get_coll_info = get_coll_info, .destroy = destroy};
}

}  // namespace lanewise::plugin
