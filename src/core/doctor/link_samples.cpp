// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/link_samples.hpp"

#include <algorithm>

namespace lanewise {

LinkCourse judge_samples(std::span<const int> generations, int maximum) noexcept {
  if (generations.empty() || std::ranges::min(generations) >= maximum) return LinkCourse::full;
  if (std::ranges::max(generations) < maximum) return LinkCourse::stuck;
  return std::ranges::is_sorted(generations) ? LinkCourse::rising : LinkCourse::flapping;
}

}  // namespace lanewise
