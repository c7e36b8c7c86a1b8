// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A rank's life: it serves one request after the other.
#include "rank_link.hpp"

namespace lanewise::bench {

// Until the driver says stop: 0. After a failure, which the driver is told of: 1, with the rank's
// CUDA objects left as they are, since to free them may wait for kernels that never end.
[[nodiscard]] int serve_rank(BlockLayout& block, RankPlace place);

}  // namespace lanewise::bench
