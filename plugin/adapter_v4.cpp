// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner_calls.hpp"

namespace lanewise::plugin {

// From the next one on NCCL takes our v5.
inline constexpr host::ReleaseBounds v4_releases{.first = {2, 24, 3}, .end = NcclRelease{2, 28, 0}};

extern "C" {
[[gnu::visibility("default")]] abi::TunerV4 ncclTunerPlugin_v4 = {.name = "lanewise",
                                                                  .init = init_v2<v4_releases>,
                                                                  .get_coll_info = get_coll_info_v4,
                                                                  .destroy = close};
}

}  // namespace lanewise::plugin
