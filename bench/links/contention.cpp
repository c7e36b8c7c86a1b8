// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "contention.hpp"

#include <map>
#include <utility>

namespace lanewise::bench {
namespace {

using Group = std::vector<int>;

// GPUs by uplink, in the order in which their first GPU comes.
std::vector<Group> group_by_uplink(const std::vector<std::optional<std::size_t>>& uplinks) {
  std::vector<Group> groups;
  std::map<std::size_t, std::size_t> group_of_uplink;
  for (std::size_t gpu = 0; gpu < uplinks.size(); ++gpu) {
    std::size_t group = groups.size();
    if (const auto uplink = uplinks.at(gpu)) {
      group = group_of_uplink.try_emplace(*uplink, group).first->second;
    }
    if (group == groups.size()) groups.emplace_back();
    groups.at(group).push_back(static_cast<int>(gpu));
  }
  return groups;
}

Scenario to_one_uplink(const Group& writers, const Group& readers) {
  Scenario scenario{"to one uplink", {}};
  for (std::size_t i = 0; i < writers.size(); ++i) {
    scenario.flows.push_back({writers.at(i), readers.at(i % readers.size())});
  }
  return scenario;
}

Scenario to_several_uplinks(const Group& writers, const std::vector<Group>& others) {
  Scenario scenario{"to several uplinks", {}};
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const Group& readers = others.at(i % others.size());
    scenario.flows.push_back({writers.at(i), readers.at(i / others.size() % readers.size())});
  }
  return scenario;
}

// The smallest GPU from `first` on that is none of the two.
int next_other(int first, int gpus, const Flow& two) {
  int gpu = first % gpus;
  while (gpu == two.from || gpu == two.to) gpu = (gpu + 1) % gpus;
  return gpu;
}

}  // namespace

std::vector<Scenario> shared_uplink_scenarios(
    const std::vector<std::optional<std::size_t>>& uplinks) {
  const std::vector<Group> groups = group_by_uplink(uplinks);
  std::vector<Scenario> scenarios;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (groups.at(group).size() < 2) continue;
    std::vector<Group> others;
    for (std::size_t step = 1; step < groups.size(); ++step) {
      others.push_back(groups.at((group + step) % groups.size()));
    }
    if (others.empty()) continue;
    scenarios.push_back(to_one_uplink(groups.at(group), others.front()));
    if (others.size() > 1) scenarios.push_back(to_several_uplinks(groups.at(group), others));
  }
  return scenarios;
}

std::vector<Scenario> pairwise_scenarios(std::size_t gpus) {
  const int count = static_cast<int>(gpus);
  std::vector<Scenario> scenarios;
  if (count < 3) return scenarios;
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      const int first = next_other(b + 1, count, {a, b});
      const int second = count == 3 ? first : next_other(first + 1, count, {a, b});
      scenarios.push_back({"two at once", {{a, first}, {b, second}}});
    }
  }
  return scenarios;
}

}  // namespace lanewise::bench
