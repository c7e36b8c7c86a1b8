// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "tuner.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "contest.hpp"
#include "search/halving.hpp"
#include "sizes.hpp"
#include "report/table.hpp"

namespace lanewise::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Halving knows only times: what may not be used is so slow that it leaves at the first look.
constexpr double time_of_unusable_us = 1e9;
// More than candidates_at gives for a size: 21 entries with a dozen channel counts each.
constexpr int ids_a_size = 1000;

class Tuning {
 public:
  Tuning(Gang& gang, const ChoiceSurvey& survey, const TuneRequest& request)
      : gang_(gang),
        request_(request),
        halving_(candidate_sets(survey, request), request.budget_s),
        contests_(request.sizes.size()) {}

  TuneOutcome run() {
    TuneOutcome outcome;
    while (const auto plan = halving_.next()) {
      const auto start = Clock::now();
      RoundResult result = measure(*plan, outcome.faults);
      result.seconds = std::chrono::duration<double>(Clock::now() - start).count() -
                       std::exchange(soak_seconds_, 0);
      halving_.record(*plan, result);
      ++outcome.rounds;
      show_progress(static_cast<std::size_t>(halving_.progress() * 100), 100,
                    std::chrono::duration<double>(Clock::now() - start_).count());
    }
    for (const auto& contest : contests_) {
      if (contest) contest->finish();
    }
    outcome.sizes = halving_.results();
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
      const auto candidates = candidates_at(
          bytes, survey, request.soak_calls > 0 ? Ll128Use::where_priced : Ll128Use::never);
      sets.push_back({bytes, prune_by_model(candidates, bytes, survey.communicator, request.keep)});
    }
    return sets;
  }

  RoundResult measure(const RoundPlan& plan, std::vector<std::string>& faults) {
    auto& contest = contests_[plan.size];
    if (!contest) contest = open(plan, faults);
    drop_losers(*contest, plan);
    std::vector<std::size_t> who;
    for (const Choice& choice : plan.choices) {
      const std::size_t index = find(*contest, choice);
      // What all sizes have in common may have lost at this one.
      const bool was_usable = contest->contenders()[index].verification.is_usable();
      contest->restore(index);
      if (was_usable) note_fault(*contest, index, faults);
      if (!contest->contenders()[index].is_out) who.push_back(index);
    }
    const RoundTimes round = contest->time_round(who);
    RoundResult result{round.stock_us, {}, 0};
    for (const Choice& choice : plan.choices) {
      const auto place = std::find(who.begin(), who.end(), find(*contest, choice));
      result.us.push_back(place == who.end()
                              ? time_of_unusable_us
                              : round.us[static_cast<std::size_t>(place - who.begin())]);
    }
    return result;
  }

  std::unique_ptr<Contest> open(const RoundPlan& plan, std::vector<std::string>& faults) {
    std::vector<Contender> contenders = {
        {&gang_, {0, "stock", Arm::stock, {}, false}, {}, false, {}, {}}};
    for (const Choice& choice : plan.choices) {
      contenders.push_back(
          {&gang_, {0, to_string(choice), Arm::settings, choice, false}, {}, false, {}, {}});
    }
    TimingOptions timing;
    timing.seed = request_.seed;
    auto contest = std::make_unique<Contest>(plan.bytes, timing, std::move(contenders),
                                             static_cast<int>(plan.size) * ids_a_size);
    contest->prepare();
    soak(*contest);
    for (std::size_t index = 0; index < contest->contenders().size(); ++index)
      note_fault(*contest, index, faults);
    return contest;
  }

  void note_fault(const Contest& contest, std::size_t index, std::vector<std::string>& faults) {
    const Contender& contender = contest.contenders()[index];
    if (contender.verification.fault.empty()) return;
    faults.push_back(contender.candidate.name + " at " + show_size(contest.bytes()) + ": " +
                     contender.verification.fault);
    const auto& forced = contender.candidate.forced;
    has_soaked_wrong_ = has_soaked_wrong_ || (forced && forced->protocol == Protocol::ll128);
  }

  // A size at which nothing could be used was not measured.
  void forget_unusable(std::vector<MeasuredSize>& sizes) const {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (!sizes[i].choice || contests_[i] == nullptr) continue;
      const Contender& contender =
          contests_[i]->contenders()[find(*contests_[i], *sizes[i].choice)];
      if (!contender.verification.is_usable()) sizes[i] = {.bytes = sizes[i].bytes};
    }
  }

  // Not a part of the budget, which is for timing.
  void soak(Contest& contest) {
    if (request_.soak_calls == 0) return;
    const auto start = Clock::now();
    const auto contenders = contest.contenders();
    for (std::size_t index = 1; index < contenders.size(); ++index) {
      const Contender& contender = contenders[index];
      if (contender.candidate.forced->protocol != Protocol::ll128) continue;
      if (!contender.verification.is_unavailable) contest.soak(index, request_.soak_calls);
      has_soaked_ = true;
      has_soaked_wrong_ = has_soaked_wrong_ || !contender.verification.fault.empty();
    }
    soak_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  }

  static std::size_t find(const Contest& contest, const Choice& choice) {
    const auto contenders = contest.contenders();
    const auto found = std::find_if(
        contenders.begin() + 1, contenders.end(),
        [&](const Contender& contender) { return contender.candidate.forced == choice; });
    return static_cast<std::size_t>(found - contenders.begin());
  }

  static void drop_losers(Contest& contest, const RoundPlan& plan) {
    const auto contenders = contest.contenders();
    for (std::size_t index = 1; index < contenders.size(); ++index) {
      const auto& forced = contenders[index].candidate.forced;
      const bool is_in = std::any_of(plan.choices.begin(), plan.choices.end(),
                                     [&](const Choice& choice) { return forced == choice; });
      if (!is_in && !contenders[index].is_out) contest.drop(index);
    }
  }

  Gang& gang_;
  TuneRequest request_;
  Halving halving_;
  std::vector<std::unique_ptr<Contest>> contests_;
  double soak_seconds_ = 0;
  bool has_soaked_ = false;
  bool has_soaked_wrong_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

TuneOutcome tune_choices(Gang& gang, const ChoiceSurvey& survey, const TuneRequest& request) {
  return Tuning(gang, survey, request).run();
}

}  // namespace lanewise::bench
