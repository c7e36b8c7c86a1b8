// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "halving.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <tuple>
#include <utility>

#include "common_choices.hpp"
#include "core/error.hpp"

namespace lanewise {
namespace {

// Screening wastes what confirming lacks: half each, as most sizes confirm early and give back.
constexpr double screening_share = 0.5;
constexpr int fewest_stage_rounds = 2;
constexpr int most_stage_rounds = 16;
// An arm this far behind the best of its size cannot be within noise of it: a repeat moves 12 % at
// the 95th percentile.
constexpr double hopeless = 0.8;
// Looks double, as each look at the interval is one more chance for noise to pass the limit.
constexpr std::size_t first_look = 16;
constexpr std::size_t last_look = 128;
constexpr std::size_t stock_readings = 2;

std::size_t next_look(std::size_t samples) { return std::max(first_look, std::bit_ceil(samples)); }

}  // namespace

Halving::Halving(std::span<const CandidateSet> sizes, double budget_seconds)
    : budget_seconds_(budget_seconds) {
  if (!(budget_seconds > 0)) throw Error("tune: expected a budget above zero seconds");
  for (const CandidateSet& set : sizes) {
    if (!sizes_.empty() && set.bytes <= sizes_.back().bytes)
      throw Error("tune: expected sizes in ascending order");
    Size size{.bytes = set.bytes, .is_decided = set.choices.empty()};
    for (const Choice& choice : set.choices) size.arms.push_back({choice, {}});
    if (size.arms.size() == 1) size.phase = Phase::confirming;
    sizes_.push_back(std::move(size));
  }
}

bool Halving::is_before(const Size& a, const Size& b) const {
  const auto order = [](const Size& size) {
    const bool is_screening = size.phase == Phase::screening;
    const auto stage = is_screening ? static_cast<std::size_t>(size.stage) : size.ratios.size();
    return std::tuple(size.phase, stage, is_screening ? size.rounds : 0);
  };
  return order(a) < order(b);
}

std::optional<RoundPlan> Halving::next() const {
  if (spent_seconds_ >= budget_seconds_) return std::nullopt;
  // Breadth first: a budget that runs out leaves all sizes equally far.
  const Size* chosen = nullptr;
  for (const Size& size : sizes_)
    if (!size.is_decided && (chosen == nullptr || is_before(size, *chosen))) chosen = &size;
  if (chosen == nullptr) return std::nullopt;
  RoundPlan plan{
      static_cast<std::size_t>(chosen - sizes_.data()), chosen->bytes, chosen->phase, {}};
  for (const Entry& arm : chosen->arms) plan.choices.push_back(arm.choice);
  return plan;
}

// As many as this stage's equal share of the screening budget pays for.
int Halving::stage_rounds() const {
  if (repeat_readings_ <= 0) return fewest_stage_rounds;
  std::size_t readings = 0;
  std::size_t most_arms = 1;
  for (const Size& size : sizes_) {
    if (size.is_decided || size.phase != Phase::screening) continue;
    readings += size.arms.size() + stock_readings;
    most_arms = std::max(most_arms, size.arms.size());
  }
  const auto stages = static_cast<double>(std::bit_width(most_arms - 1));
  const double left = screening_share * budget_seconds_ - spent_seconds_;
  const double round_seconds = static_cast<double>(readings) * repeat_seconds_ / repeat_readings_;
  const double rounds = round_seconds > 0 ? left / std::max(stages, 1.0) / round_seconds
                                          : static_cast<double>(most_stage_rounds);
  return static_cast<int>(std::clamp(rounds, static_cast<double>(fewest_stage_rounds),
                                     static_cast<double>(most_stage_rounds)));
}

void Halving::screen(Size& size) {
  if (++size.rounds < stage_rounds()) return;
  std::stable_sort(size.arms.begin(), size.arms.end(), [](const Entry& a, const Entry& b) {
    return median(a.ratios) > median(b.ratios);
  });
  const double bar = median(size.arms.front().ratios) * hopeless;
  std::size_t kept = (size.arms.size() + 1) / 2;
  while (kept > 1 && median(size.arms[kept - 1].ratios) < bar) --kept;
  const auto first_out = size.arms.begin() + static_cast<std::ptrdiff_t>(kept);
  size.dropped.insert(size.dropped.end(), first_out, size.arms.end());
  size.arms.erase(first_out, size.arms.end());
  ++size.stage;
  size.rounds = 0;
  if (kept == 1) size.phase = Phase::confirming;
}

void Halving::confirm(Size& size) {
  if (size.ratios.size() < next_look(size.ratios.size())) return;
  const bool is_clear = judge(estimate_median(size.ratios), gain_limit) != Verdict::undecided;
  size.is_decided = is_clear || size.ratios.size() >= last_look;
}

// Sizes that were measured at all go on with the best they have.
void Halving::end_screening() {
  for (Size& size : sizes_) {
    if (size.phase != Phase::screening || size.is_decided || size.arms.front().ratios.empty())
      continue;
    size.dropped.insert(size.dropped.end(), size.arms.begin() + 1, size.arms.end());
    size.arms.resize(1);
    size.phase = Phase::confirming;
  }
}

// Once, when the last size is through its screening: before any evidence is gathered.
void Halving::agree_on_choices() {
  std::vector<SizeChoices> screened;
  std::vector<Size*> owners;
  for (Size& size : sizes_) {
    if (size.phase == Phase::screening && !size.is_decided) return;
    if (size.is_decided || size.arms.front().ratios.empty()) continue;
    SizeChoices choices{size.bytes, {}};
    for (const auto* arms : {&size.arms, &size.dropped})
      for (const Entry& arm : *arms) choices.choices.push_back({arm.choice, median(arm.ratios)});
    screened.push_back(std::move(choices));
    owners.push_back(&size);
  }
  has_agreed_ = true;
  const auto choices = common_choices(screened);
  for (std::size_t i = 0; i < owners.size(); ++i) owners[i]->arms = {Entry{choices[i], {}}};
}

void Halving::record(const RoundPlan& plan, const RoundResult& result) {
  if (plan.size >= sizes_.size()) throw Error("tune: expected a planned size");
  Size& size = sizes_[plan.size];
  if (result.us.size() != size.arms.size() || plan.choices.size() != size.arms.size() ||
      plan.phase != size.phase)
    throw Error("tune: expected a time for each choice of the plan");
  const double stock = median(result.stock_us);
  const bool is_first = size.arms.front().ratios.empty() && size.ratios.empty();
  const std::vector<double> stocks(result.us.size(), stock);
  const auto ratios = paired_ratios(stocks, result.us);
  if (result.stock_us.size() >= stock_readings)
    stock_ratios_.push_back(result.stock_us[0] / result.stock_us[1]);
  spent_seconds_ += result.seconds;
  if (!is_first) {
    repeat_seconds_ += result.seconds;
    repeat_readings_ += static_cast<double>(result.us.size() + result.stock_us.size());
  }
  if (size.phase == Phase::screening) {
    for (std::size_t i = 0; i < ratios.size(); ++i) size.arms[i].ratios.push_back(ratios[i]);
    screen(size);
  } else {
    size.stock_us.push_back(stock);
    size.us.push_back(result.us[0]);
    size.ratios.push_back(ratios[0]);
    confirm(size);
  }
  if (spent_seconds_ >= screening_share * budget_seconds_) end_screening();
  if (!has_agreed_) agree_on_choices();
}

std::vector<MeasuredSize> Halving::results() const {
  std::vector<MeasuredSize> results;
  for (const Size& size : sizes_) {
    MeasuredSize measured{.bytes = size.bytes};
    if (!size.arms.empty()) measured.choice = size.arms.front().choice;
    if (!size.ratios.empty()) {
      measured.ratio = estimate_median(size.ratios);
      measured.stock_us = median(size.stock_us);
      measured.us = median(size.us);
    }
    results.push_back(measured);
  }
  return results;
}

double Halving::progress() const {
  if (!next()) return 1;
  return spent_seconds_ / budget_seconds_;
}

}  // namespace lanewise
