// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "context.hpp"
#include "guard.hpp"
#include "translate.hpp"

namespace lanewise::plugin {
namespace {

constexpr host::ReleaseBounds releases{.first = {2, 32, 6}, .end = std::nullopt};

abi::Result init(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
                 abi::DebugLogger logger, abi::NvlDomainInfo*, abi::TunerConstants*) noexcept {
  return guarded(logger, [&, caller = __builtin_return_address(0)] {
    open_context(context, {.ranks = ranks,
                           .nodes = nodes,
                           .logger = logger,
                           .communicator = communicator,
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

abi::Result finalize(void* context) noexcept {
  return guarded(nullptr, [&] { close_context(context); });
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] abi::TunerV7 ncclTunerPlugin_v7 = {.name = "lanewise",
                                                                  .init = init,
                                                                  .get_coll_info = get_coll_info,
                                                                  .finalize = finalize,
                                                                  .get_chunk_size = nullptr};
}

}  // namespace lanewise::plugin
