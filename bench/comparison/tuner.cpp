// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "comparison.hpp"
#include "report/table.hpp"
#include "search/halving.hpp"
#include "sizes.hpp"

namespace lanewise::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Halving knows only times: what may not be used is so slow that it leaves at the first look.
constexpr double time_of_unusable_us = 1e9;
// More than candidates_at gives for a size: 21 entries with a dozen channel counts each.
constexpr int ids_a_size = 1000;

class Tuning {
 public:
  Tuning(RankGroup& rank_group, const ChoiceSurvey& survey, const TuneRequest& request)
      : group_(rank_group),
        communicator_(survey.communicator),
        request_(request),
        halving_(candidate_sets(survey, request), request.budget_s),
        comparisons_(request.sizes.size()) {}

  TuneOutcome run() {
    TuneOutcome outcome;
    while (const auto plan = halving_.next()) {
      const auto start = Clock::now();
      RoundResult result = measure(*plan, outcome.faults);
      result.seconds = std::chrono::duration<double>(Clock::now() - start).count() -
                       std::exchange(unpaid_seconds_, 0);
      halving_.record(*plan, result);
      ++outcome.rounds;
      show_progress(static_cast<std::size_t>(halving_.progress() * 100), 100,
                    std::chrono::duration<double>(Clock::now() - start_).count());
    }
    for (const auto& comparison : comparisons_) {
      if (comparison) comparison->finish();
    }
    for (const auto& [name, evidence] : failures_)
      outcome.unsafe.push_back({parse_choice(name).value_or(Choice{}), evidence});
    outcome.sizes = halving_.results();
    outcome.times = times();
    forget_unusable(outcome.sizes);
    outcome.is_ll128_verified = has_soaked_ && !has_soaked_wrong_;
    // One wrong sum anywhere, and LL128 is good for nothing here.
    for (MeasuredSize& size : outcome.sizes) {
      const bool is_ll128 = size.choice && size.choice->protocol == Protocol::ll128;
      if (is_ll128 && !outcome.is_ll128_verified) size.choice.reset();
    }
    if (!halving_.stock_ratios().empty()) outcome.noise = relative_spread(halving_.stock_ratios());
    return outcome;
  }

 private:
  static std::vector<CandidateSet> candidate_sets(const ChoiceSurvey& survey,
                                                  const TuneRequest& request) {
    std::vector<CandidateSet> sets;
    for (const std::size_t bytes : request.sizes) {
      auto candidates = candidates_at(
          bytes, survey, request.soak_calls > 0 ? Ll128Use::where_priced : Ll128Use::never);
      std::erase_if(candidates,
                    [&](const Choice& choice) { return is_unsafe(request.unsafe, choice); });
      sets.push_back({bytes, prune_by_model(candidates, bytes, survey.communicator, request.keep)});
    }
    return sets;
  }

  RoundResult measure(const RoundPlan& plan, std::vector<std::string>& faults) {
    auto& comparison = comparisons_[plan.size];
    if (!comparison) comparison = open(plan, faults);
    drop_losers(*comparison, plan);
    std::vector<std::size_t> who;
    for (const Choice& choice : plan.choices) {
      const std::size_t index = find(*comparison, choice);
      // What all sizes have in common may have lost at this one.
      const bool was_usable = comparison->arms()[index].is_usable();
      comparison->restore(index);
      if (was_usable) note_fault(*comparison, index, faults);
      if (!comparison->arms()[index].is_out) who.push_back(index);
    }
    const auto start = Clock::now();
    const RoundTimes round = comparison->time_round(who);
    take_failures(*comparison, start);
    RoundResult result{round.stock_us, {}, 0};
    // Where stock is refused nothing can be measured, and each round passes at once.
    if (round.stock_us.empty()) result.stock_us = {1, 1};
    for (const Choice& choice : plan.choices) {
      const std::size_t index = find(*comparison, choice);
      const auto place = std::find(who.begin(), who.end(), index);
      const auto us = place == who.end() ? std::nullopt
                                         : round.us[static_cast<std::size_t>(place - who.begin())];
      if (us) us_[{plan.size, index}].push_back(*us);
      result.us.push_back(us.value_or(time_of_unusable_us));
    }
    return result;
  }

  // What failed at any size is left out at all. The time-outs are not a part of the budget.
  void take_failures(SizeComparison& comparison, Clock::time_point start) {
    const auto& stock = comparison.arms().front();
    if (!stock.failure.empty()) throw RankFailure(stock.failure);
    const std::size_t known = failures_.size();
    comparison.add_failures(failures_);
    if (failures_.size() == known) return;
    unpaid_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
    for (const auto& other : comparisons_)
      if (other) other->leave_out(failures_);
  }

  std::unique_ptr<SizeComparison> open(const RoundPlan& plan, std::vector<std::string>& faults) {
    std::vector<ComparedArm> arms = {stock_arm(group_)};
    for (const Choice& choice : plan.choices) arms.push_back(choice_arm(group_, choice));
    TimingOptions timing;
    timing.seed = request_.seed;
    auto comparison = std::make_unique<SizeComparison>(plan.bytes, timing, std::move(arms),
                                                       static_cast<int>(plan.size) * ids_a_size);
    comparison->leave_out(failures_);
    const auto start = Clock::now();
    comparison->prepare();
    take_failures(*comparison, start);
    soak(*comparison);
    for (std::size_t index = 0; index < comparison->arms().size(); ++index)
      note_fault(*comparison, index, faults);
    return comparison;
  }

  void note_fault(const SizeComparison& comparison, std::size_t index,
                  std::vector<std::string>& faults) {
    const ComparedArm& arm = comparison.arms()[index];
    if (arm.verification.fault.empty()) return;
    faults.push_back(arm.candidate.name + " at " + show_size(comparison.bytes()) + ": " +
                     arm.verification.fault);
    const auto& forced = arm.candidate.forced;
    has_soaked_wrong_ = has_soaked_wrong_ || (forced && forced->protocol == Protocol::ll128);
  }

  // A size at which nothing could be used was not measured.
  void forget_unusable(std::vector<MeasuredSize>& sizes) const {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (!sizes[i].choice || comparisons_[i] == nullptr) continue;
      const ComparedArm& arm = comparisons_[i]->arms()[find(*comparisons_[i], *sizes[i].choice)];
      if (!arm.is_usable() || comparisons_[i]->is_without_stock())
        sizes[i] = {.bytes = sizes[i].bytes};
    }
  }

  // Not a part of the budget, which is for timing.
  void soak(SizeComparison& comparison) {
    if (request_.soak_calls == 0) return;
    const auto start = Clock::now();
    const auto arms = comparison.arms();
    for (std::size_t index = 1; index < arms.size(); ++index) {
      const ComparedArm& arm = arms[index];
      if (arm.candidate.forced->protocol != Protocol::ll128) continue;
      if (arm.is_usable()) comparison.soak(index, request_.soak_calls);
      has_soaked_ = true;
      has_soaked_wrong_ = has_soaked_wrong_ || !arm.verification.fault.empty();
    }
    unpaid_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
    take_failures(comparison, Clock::now());
  }

  std::vector<MeasuredTime> times() const {
    std::vector<MeasuredTime> times;
    for (const auto& [place, us] : us_) {
      const ComparedArm& arm = comparisons_[place.first]->arms()[place.second];
      if (arm.is_usable())
        times.push_back(
            {*arm.candidate.forced, comparisons_[place.first]->bytes(), communicator_, median(us)});
    }
    return times;
  }

  static std::size_t find(const SizeComparison& comparison, const Choice& choice) {
    const auto arms = comparison.arms();
    const auto found = std::find_if(arms.begin() + 1, arms.end(), [&](const ComparedArm& arm) {
      return arm.candidate.forced == choice;
    });
    return static_cast<std::size_t>(found - arms.begin());
  }

  static void drop_losers(SizeComparison& comparison, const RoundPlan& plan) {
    const auto arms = comparison.arms();
    for (std::size_t index = 1; index < arms.size(); ++index) {
      const auto& forced = arms[index].candidate.forced;
      const bool is_in = std::any_of(plan.choices.begin(), plan.choices.end(),
                                     [&](const Choice& choice) { return forced == choice; });
      if (!is_in && !arms[index].is_out) comparison.drop(index);
    }
  }

  RankGroup& group_;
  Communicator communicator_;
  TuneRequest request_;
  Halving halving_;
  std::vector<std::unique_ptr<SizeComparison>> comparisons_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> us_;  // by size and arm
  Failures failures_;
  double unpaid_seconds_ = 0;
  bool has_soaked_ = false;
  bool has_soaked_wrong_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

TuneOutcome tune_choices(RankGroup& rank_group, const ChoiceSurvey& survey,
                         const TuneRequest& request) {
  return Tuning(rank_group, survey, request).run();
}

}  // namespace lanewise::bench
