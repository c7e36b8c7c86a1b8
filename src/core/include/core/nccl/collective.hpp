// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The collectives NCCL asks a tuner about, in NCCL's order.
#include <cstdint>

namespace lanewise {

enum class Collective : std::uint8_t { broadcast, reduce, all_gather, reduce_scatter, all_reduce };

}  // namespace lanewise
