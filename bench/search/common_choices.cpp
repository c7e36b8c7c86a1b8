// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "common_choices.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace lanewise {
namespace {

// In a run the ratios are summed logarithms.
std::vector<Contender> tied_best(const SizeContenders& size) {
  if (size.contenders.empty()) throw Error("tune: expected a contender at each size");
  double best = 0;
  for (const Contender& contender : size.contenders) best = std::max(best, contender.ratio);
  std::vector<Contender> tied;
  for (const Contender& contender : size.contenders)
    if (contender.ratio >= best * tie)
      tied.push_back({contender.choice, std::log(contender.ratio)});
  return tied;
}

std::vector<Contender> intersect(const std::vector<Contender>& run,
                                 const std::vector<Contender>& size) {
  std::vector<Contender> both;
  for (const Contender& contender : run)
    for (const Contender& other : size)
      if (other.choice == contender.choice)
        both.push_back({contender.choice, contender.ratio + other.ratio});
  return both;
}

Choice best_of(const std::vector<Contender>& run) {
  return std::max_element(run.begin(), run.end(),
                          [](const Contender& a, const Contender& b) { return a.ratio < b.ratio; })
      ->choice;
}

}  // namespace

std::vector<Choice> common_choices(std::span<const SizeContenders> sizes) {
  std::vector<Choice> choices;
  std::vector<Contender> run;  // what all sizes since the last change have in common
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
