// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner_calls.hpp"

namespace lanewise::plugin {

inline constexpr host::ReleaseBounds v7_releases{.first = {2, 32, 6}, .end = std::nullopt};

extern "C" {
[[gnu::visibility("default")]] abi::TunerV7 ncclTunerPlugin_v7 = {.name = "lanewise",
                                                                  .init = init_v5<v7_releases>,
                                                                  .get_coll_info = get_coll_info_v4,
                                                                  .finalize = close,
                                                                  .get_chunk_size = nullptr};
}

}  // namespace lanewise::plugin
