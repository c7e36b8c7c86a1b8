// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner_calls.hpp"

namespace lanewise::plugin {

// From the next one on NCCL takes our v6.
inline constexpr host::ReleaseBounds v5_releases{.first = {2, 28, 3}, .end = NcclRelease{2, 30, 0}};

extern "C" {
[[gnu::visibility("default")]] abi::TunerV5 ncclTunerPlugin_v5 = {.name = "lanewise",
                                                                  .init = init_v5<v5_releases>,
                                                                  .get_coll_info = get_coll_info_v4,
                                                                  .finalize = close};
}

}  // namespace lanewise::plugin
