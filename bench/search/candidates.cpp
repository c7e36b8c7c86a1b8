// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "candidates.hpp"

#include <algorithm>
#include <array>

#include "core/model/latency.hpp"

namespace lanewise {
namespace {

struct Ranked {
  Choice choice;
  double us = 0;
};

bool is_same_entry(const Choice& a, const Choice& b) noexcept {
  return a.algorithm == b.algorithm && a.protocol == b.protocol;
}

bool is_launched_before(const std::vector<Choice>& candidates, const Choice& choice,
                        std::size_t bytes, const Communicator& communicator) {
  const Launch launch = launch_of(choice, bytes, communicator);
  return std::any_of(candidates.begin(), candidates.end(), [&](const Choice& other) {
    return is_same_entry(other, choice) && launch_of(other, bytes, communicator) == launch;
  });
}

}  // namespace

LinkKind link_of_entries(std::span<const Choice> entries, const Environment& environment) {
  const bool is_by_user = environment.contains("NCCL_PROTO") || environment.contains("NCCL_ALGO");
  const bool has_ll128 = std::any_of(entries.begin(), entries.end(), [](const Choice& entry) {
    return entry.protocol == Protocol::ll128;
  });
  return has_ll128 && !is_by_user ? LinkKind::nvlink : LinkKind::pcie;
}

std::vector<Choice> priced_entries(const CostTable& table, Ll128Use ll128) {
  std::vector<Choice> entries;
  for (std::size_t row = 0; row < algorithm_count; ++row) {
    for (std::size_t column = 0; column < protocol_count; ++column) {
      const Choice entry{static_cast<Algorithm>(row), static_cast<Protocol>(column), 0};
      if (!table.cost(entry.algorithm, entry.protocol)) continue;
      if (entry.protocol == Protocol::ll128 && ll128 == Ll128Use::never) continue;
      entries.push_back(entry);
    }
  }
  return entries;
}

std::vector<int> channel_counts(int most) {
  constexpr std::array steps = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  std::vector<int> counts;
  for (const int count : steps)
    if (count < most) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::vector<Choice> enumerate_candidates(std::span<const Choice> entries, std::size_t bytes,
                                         const Communicator& communicator) {
  std::vector<Choice> candidates;
  for (const Choice& entry : entries) {
    const int most = most_channels(entry.algorithm, entry.protocol, bytes, communicator);
    for (const int channels : channel_counts(most)) {
      const Choice choice{entry.algorithm, entry.protocol, channels};
      const bool is_repeat = is_modelled(choice.algorithm, choice.protocol) &&
                             is_launched_before(candidates, choice, bytes, communicator);
      if (!is_repeat) candidates.push_back(choice);
    }
  }
  return candidates;
}

std::vector<Choice> prune_by_model(std::span<const Choice> candidates, std::size_t bytes,
                                   const Communicator& communicator, std::size_t keep) {
  std::vector<Ranked> modelled;
  std::vector<Choice> unknown;
  for (const Choice& choice : candidates) {
    if (!is_modelled(choice.algorithm, choice.protocol)) {
      unknown.push_back(choice);
      continue;
    }
    modelled.push_back({choice, predicted_us(choice, bytes, communicator)});
  }
  std::stable_sort(modelled.begin(), modelled.end(),
                   [](const Ranked& a, const Ranked& b) { return a.us < b.us; });
  std::vector<Choice> kept;
  for (std::size_t i = 0; i < modelled.size(); ++i) {
    const Choice& choice = modelled[i].choice;
    const bool is_first = std::none_of(kept.begin(), kept.end(), [&choice](const Choice& other) {
      return is_same_entry(other, choice);
    });
    if (i < keep || is_first) kept.push_back(choice);
  }
  kept.insert(kept.end(), unknown.begin(), unknown.end());
  return kept;
}

}  // namespace lanewise
