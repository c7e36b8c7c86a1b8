// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How many channels ranks may have that share a GPU: a block of NCCL's fills a multiprocessor, and
// a collective hangs unless the blocks of all ranks run at once.
#include <algorithm>
#include <optional>

namespace lanewise {

[[nodiscard]] constexpr int ranks_of_fullest_gpu(int ranks, int gpus) noexcept {
  return (ranks + gpus - 1) / gpus;
}

// Nullopt where each rank has a GPU to itself.
[[nodiscard]] constexpr std::optional<int> channels_that_fit(int ranks, int gpus,
                                                             int multiprocessors) noexcept {
  if (ranks <= gpus) return std::nullopt;
  return std::max(1, multiprocessors / ranks_of_fullest_gpu(ranks, gpus));
}

}  // namespace lanewise
