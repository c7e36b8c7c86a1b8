// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The calls that several versions of the tuner ABI share, each named for the first version with its
// signature. Adapters put them into what they export.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "context.hpp"
#include "guard.hpp"
#include "translate.hpp"

namespace lanewise::plugin {

// The bounds of each version have a name of their own: GCC 14 gives two instances over constants of
// one name the same symbol, also where the constants are local to their files, and the linker keeps
// one.
template <const host::ReleaseBounds& releases, CostTableAccess costs = CostTableAccess::with_table>
abi::Result init_v2(std::size_t ranks, std::size_t nodes, abi::DebugLogger logger,
                    void** context) noexcept {
  return guarded(logger, [&, caller = __builtin_return_address(0)] {
    open_context(context, {ranks, nodes, logger, std::nullopt, costs, releases, caller});
  });
}

template <const host::ReleaseBounds& releases>
abi::Result init_v5(void** context, std::uint64_t communicator, std::size_t ranks,
                    std::size_t nodes, abi::DebugLogger logger, abi::NvlDomainInfo*,
                    abi::TunerConstants*) noexcept {
  return guarded(logger, [&, caller = __builtin_return_address(0)] {
    open_context(context, {ranks, nodes, logger, communicator, CostTableAccess::with_table,
                           releases, caller});
  });
}

// Registration of the buffers is rank-local, so it must not decide anything.
inline abi::Result get_coll_info_v4(void* context, abi::Function function, std::size_t bytes,
                                    int pipe_ops, float** table, int algorithms, int protocols,
                                    int registered, int* channels) noexcept {
  return guarded(nullptr, [&] {
    answer(context, {function, bytes, pipe_ops, to_buffers(registered)},
           to_cost_table(table, algorithms, protocols), {nullptr, nullptr, channels});
  });
}

inline abi::Result close(void* context) noexcept {
  return guarded(nullptr, [&] { close_context(context); });
}

}  // namespace lanewise::plugin
