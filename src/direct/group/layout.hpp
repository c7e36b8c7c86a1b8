// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where things lie in the memory of a group: an area for each rank, in it a slot set for eager
// calls and one for each graph, each with two halves. Private to the group.
#include <cstddef>
#include <cstdint>

#include "direct/forms.hpp"

namespace lanewise::direct {

struct Layout {
  // `max_bytes` of one call; `ll_bytes` of one in LL form.
  Layout(int ranks, int sets, std::size_t max_bytes, std::size_t ll_bytes);

  std::size_t ll_lines;
  std::size_t data_offset;  // in a half; lines are at its beginning
  std::size_t sums_offset;
  std::size_t flags_offset;
  std::size_t half_bytes;
  std::size_t area_bytes;   // of one rank
  std::size_t total_bytes;  // of all ranks
  friend bool operator==(const Layout&, const Layout&) = default;

  [[nodiscard]] std::size_t offset_of(int rank, int set) const noexcept {
    return static_cast<std::size_t>(rank) * area_bytes +
           static_cast<std::size_t>(set) * 2 * half_bytes;
  }
};

}  // namespace lanewise::direct
