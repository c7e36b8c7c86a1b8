// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner_calls.hpp"

namespace lanewise::plugin {

// From the next one on NCCL takes our v4.
inline constexpr host::ReleaseBounds v3_releases{.first = {2, 22, 3}, .end = NcclRelease{2, 24, 0}};

namespace {

// Without a word of registered buffers, as of those that are not.
abi::Result get_coll_info(void* context, abi::Function function, std::size_t bytes, int pipe_ops,
                          float** table, int algorithms, int protocols, int* channels) noexcept {
  return get_coll_info_v4(context, function, bytes, pipe_ops, table, algorithms, protocols, 0,
                          channels);
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] abi::TunerV3 ncclTunerPlugin_v3 = {.name = "lanewise",
                                                                  .init = init_v2<v3_releases>,
                                                                  .get_coll_info = get_coll_info,
                                                                  .destroy = close};
}

}  // namespace lanewise::plugin
