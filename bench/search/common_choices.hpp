// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One choice for as many neighbouring sizes as possible: where several are equally good within
// noise, picking one at random would leave no two neighbours alike, and so no range between them.
#include <cstddef>
#include <span>
#include <vector>

#include "core/nccl/choice.hpp"

namespace lanewise {

struct MeasuredChoice {
  Choice choice;
  double ratio = 0;  // stock over choice, median
};

struct SizeChoices {
  std::size_t bytes = 0;
  std::vector<MeasuredChoice> choices;
};

// As good as the best of its size: a hundredth is below what screening can tell apart.
inline constexpr double tie = 0.99;

// The choice of each size, in order: of all ways to pick only among the tied best of each size, one
// with the fewest changes from size to size; in a run the tied choice with the best geometric mean.
// Throws Error for a size without choices.
[[nodiscard]] std::vector<Choice> common_choices(std::span<const SizeChoices> sizes);

}  // namespace lanewise
