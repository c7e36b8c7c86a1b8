// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner_calls.hpp"

namespace lanewise::plugin {

// From the next one on NCCL takes our v3.
inline constexpr host::ReleaseBounds v2_releases{.first = {2, 21, 5}, .end = NcclRelease{2, 22, 0}};

namespace {

// No table to check against: the user's NCCL_ALGO and NCCL_PROTO are honoured by Context.
abi::Result get_coll_info(void* context, abi::Function function, std::size_t bytes, int, int,
                          int pipe_ops, int* algorithm, int* protocol, int* channels) noexcept {
  return guarded(nullptr, [&] {
    answer(context, {function, bytes, pipe_ops}, {}, {algorithm, protocol, channels});
  });
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] abi::TunerV2 ncclTunerPlugin_v2 = {
    .name = "lanewise",
    .init = init_v2<v2_releases, CostTableAccess::without_table>,
    .get_coll_info = get_coll_info,
    .destroy = close};
}

}  // namespace lanewise::plugin
