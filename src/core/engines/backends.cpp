// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/engines/backends.hpp"

#include <algorithm>
#include <charconv>

namespace lanewise {
namespace {

std::optional<long long> number_of(const CallFacts& facts, std::string_view name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return std::nullopt;
  const auto& text = found->second;
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_one_of(const Condition& condition, const CallFacts& facts) {
  if (condition.one_of.empty()) return true;
  const auto found = facts.find(condition.fact);
  return found != facts.end() &&
         std::ranges::find(condition.one_of, found->second) != condition.one_of.end();
}

// A bound on what is not known is not met.
bool is_within(const Condition& condition, const CallFacts& facts) {
  if (!condition.at_least && !condition.at_most && condition.at_most_fact.empty()) return true;
  const auto number = number_of(facts, condition.fact);
  if (!number) return false;
  if (condition.at_least && *number < *condition.at_least) return false;
  if (condition.at_most && *number > *condition.at_most) return false;
  if (condition.at_most_fact.empty()) return true;
  const auto bound = number_of(facts, condition.at_most_fact);
  return bound && *number <= *bound;
}

bool could_take(const EngineRelease& engine, std::string_view name, const CallFacts& facts) {
  const auto found = std::ranges::find(engine.backends, name, &Backend::name);
  return found != engine.backends.end() && refusals(engine, *found, facts).empty();
}

bool holds(const EngineRelease& engine, const Condition& condition, const CallFacts& facts) {
  for (const auto& other : condition.unless) {
    if (could_take(engine, other, facts)) return false;
  }
  const auto one_holds = [&](const Condition& one) { return holds(engine, one, facts); };
  if (!std::ranges::all_of(condition.all, one_holds)) return false;
  if (!condition.any.empty() && !std::ranges::any_of(condition.any, one_holds)) return false;
  return condition.fact.empty() || (is_one_of(condition, facts) && is_within(condition, facts));
}

// What else a setting may be: what a condition asks of it.
void collect_values(const Condition& condition, const std::string& setting,
                    std::vector<std::string>& values) {
  if (condition.fact == setting)
    values.insert(values.end(), condition.one_of.begin(), condition.one_of.end());
  for (const auto& one : condition.any) collect_values(one, setting, values);
  for (const auto& one : condition.all) collect_values(one, setting, values);
}

std::vector<std::string> values_of(const EngineRelease& engine, const std::string& setting) {
  std::vector<std::string> values;
  for (const auto& backend : engine.backends) {
    for (const auto& condition : backend.needs) collect_values(condition, setting, values);
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

CallFacts with_defaults(const EngineRelease& engine, CallFacts facts) {
  for (const auto& setting : engine.settings) facts.emplace(setting.name, setting.value);
  return facts;
}

std::vector<std::string> refusals(const EngineRelease& engine, const Backend& backend,
                                  const CallFacts& facts) {
  std::vector<std::string> reasons;
  for (const auto& condition : backend.needs) {
    if (!holds(engine, condition, facts)) reasons.push_back(condition.otherwise);
  }
  return reasons;
}

const Backend* find_taker(const EngineRelease& engine, const CallFacts& facts) {
  const auto found = std::ranges::find_if(engine.backends, [&](const Backend& backend) {
    return refusals(engine, backend, facts).empty();
  });
  return found == engine.backends.end() ? nullptr : &*found;
}

std::vector<OneChange> find_changes(const EngineRelease& engine, const CallFacts& facts) {
  std::vector<OneChange> changes;
  const auto* now = find_taker(engine, facts);
  for (const auto& setting : engine.settings) {
    for (const auto& value : values_of(engine, setting.name)) {
      CallFacts changed = facts;
      changed[setting.name] = value;
      const auto* taker = find_taker(engine, changed);
      if (taker != now && taker != nullptr) changes.push_back({{setting.name, value}, taker});
    }
  }
  return changes;
}

const BackendFigure* find_figure(const EngineRelease& engine, std::string_view backend,
                                 const CallFacts& facts) {
  const auto bytes = number_of(facts, "bytes").value_or(0);
  const BackendFigure* nearest = nullptr;
  double best = 2.0;
  for (const auto& figure : engine.figures) {
    if (figure.backend != backend || figure.ranks != number_of(facts, "ranks") ||
        figure.capability != number_of(facts, "capability") || bytes <= 0)
      continue;
    const auto there = static_cast<double>(figure.bytes);
    const auto here = static_cast<double>(bytes);
    const double factor = std::max(there / here, here / there);
    if (factor > best) continue;
    best = factor;
    nearest = &figure;
  }
  return nearest;
}

}  // namespace lanewise
