// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner_calls.hpp"

namespace lanewise::plugin {

// From the next one on NCCL takes our v7.
inline constexpr host::ReleaseBounds v6_releases{.first = {2, 30, 3}, .end = NcclRelease{2, 32, 6}};

extern "C" {
[[gnu::visibility("default")]] abi::TunerV6 ncclTunerPlugin_v6 = {.name = "lanewise",
                                                                  .init = init_v5<v6_releases>,
                                                                  .get_coll_info = get_coll_info_v4,
                                                                  .finalize = close,
                                                                  .get_chunk_size = nullptr};
}

}  // namespace lanewise::plugin
