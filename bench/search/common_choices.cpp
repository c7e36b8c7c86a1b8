// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "common_choices.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace lanewise {
namespace {

// In a run the ratios are summed logarithms.
std::vector<MeasuredChoice> tied_best(const SizeChoices& size) {
  if (size.choices.empty()) throw Error("tune: expected a contender at each size");
  double best = 0;
  for (const MeasuredChoice& contender : size.choices) best = std::max(best, contender.ratio);
  std::vector<MeasuredChoice> tied;
  for (const MeasuredChoice& contender : size.choices)
    if (contender.ratio >= best * tie)
      tied.push_back({contender.choice, std::log(contender.ratio)});
  return tied;
}

std::vector<MeasuredChoice> intersect(const std::vector<MeasuredChoice>& run,
                                      const std::vector<MeasuredChoice>& size) {
  std::vector<MeasuredChoice> both;
  for (const MeasuredChoice& contender : run)
    for (const MeasuredChoice& other : size)
      if (other.choice == contender.choice)
        both.push_back({contender.choice, contender.ratio + other.ratio});
  return both;
}

Choice best_of(const std::vector<MeasuredChoice>& run) {
  return std::max_element(
             run.begin(), run.end(),
             [](const MeasuredChoice& a, const MeasuredChoice& b) { return a.ratio < b.ratio; })
      ->choice;
}

}  // namespace

std::vector<Choice> common_choices(std::span<const SizeChoices> sizes) {
  std::vector<Choice> choices;
  std::vector<MeasuredChoice> run;  // what all sizes since the last change have in common
  const auto end_run = [&choices, &run](std::size_t next_size) {
    if (!run.empty()) choices.resize(next_size, best_of(run));
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto tied = tied_best(sizes[i]);
    auto both = intersect(run, tied);
    if (both.empty()) {
      end_run(i);
      run = std::move(tied);
    } else {
      run = std::move(both);
    }
  }
  end_run(sizes.size());
  return choices;
}

}  // namespace lanewise
