// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a link's generations, read one after the other while its GPU works, say of it. An idle GPU
// lowers its link and raises it once, when it has to; a link that also falls back does not hold.
#include <cstdint>
#include <span>

namespace lanewise {

enum class LinkCourse : std::uint8_t { full, rising, stuck, flapping };

// `generations` in order of time; a `maximum` of 0, or none: full.
[[nodiscard]] LinkCourse judge_samples(std::span<const int> generations, int maximum) noexcept;

}  // namespace lanewise
