// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "comparison.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace lanewise::bench {
namespace {

// A request builds this many, so that a rank_group's time-out is about a few graphs, not a whole
// sweep.
constexpr std::size_t candidates_a_request = 8;

// Some seconds at the largest sizes.
constexpr int soak_rounds_a_request = 100;

// The first round of a fresh rank_group finds cold clocks and page tables: it is not counted.
constexpr int uncounted_rounds = 1;

}  // namespace

void add_timing_options(CLI::App& command, TimingOptions& options) {
  command.add_option("--calls", options.calls, "All-reduces in a row that make a sample")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--rounds", options.fewest_rounds, "Fewest rounds of a size")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--most-rounds", options.most_rounds, "Most rounds, while undecided")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--budget", options.budget_s, "Seconds of timing in all; 0: no limit")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  command.add_flag("--eager", options.is_eager, "Queue calls one by one, not from a CUDA graph");
  command.add_option("--seed", options.seed, "Of the data and the order")->capture_default_str();
}

SizeComparison::SizeComparison(std::size_t bytes, TimingOptions options,
                               std::vector<ComparedArm> arms, int first_id)
    : bytes_(bytes), options_(options), arms_(std::move(arms)), random_(options.seed + bytes) {
  for (std::size_t index = 0; index < arms_.size(); ++index) {
    arms_[index].candidate.id = first_id + static_cast<int>(index);
  }
}

void SizeComparison::set_step(double gap_us, std::vector<std::size_t> trace) {
  gap_us_ = gap_us;
  trace_ = std::move(trace);
}

void SizeComparison::prepare() { prepare_missing(); }

// Also what has to be built anew, as its ranks were started afresh.
void SizeComparison::prepare_missing() {
  while (true) {
    std::vector<ComparedArm*> missing;
    for (ComparedArm& arm : arms_) {
      if (arm.is_out || arm.rank_group->has_started(arm.prepared_in)) continue;
      const bool is_of_one_group = missing.empty() || missing.front()->rank_group == arm.rank_group;
      if (is_of_one_group && missing.size() < candidates_a_request) missing.push_back(&arm);
    }
    if (missing.empty()) return;
    RankGroup& group = *missing.front()->rank_group;
    group.start_afresh_if_gone();
    try {
      prepare_in(group, missing);
    } catch (const RankFailure& failure) {
      put_out(failure);
    }
  }
}

void SizeComparison::put_out(const RankFailure& failure) {
  const auto found = std::find_if(arms_.begin(), arms_.end(), [&](const ComparedArm& arm) {
    return !arm.is_out && arm.candidate.id == failure.candidate;
  });
  if (found == arms_.end()) throw failure;
  found->is_out = true;
  found->failure = failure.what();
  if (!options_.is_one_failure_enough) return;
  for (ComparedArm& arm : std::span(arms_).subspan(1)) arm.is_out = true;
}

void SizeComparison::prepare_in(RankGroup& rank_group, std::span<ComparedArm* const> some) {
  const CallMode mode = options_.is_eager ? CallMode::eager : CallMode::graph;
  Batch batch{bytes_, options_.calls, mode, random_(), gap_us_, trace_, {}};
  for (const ComparedArm* arm : some) batch.candidates.push_back(arm->candidate);
  const auto answers = rank_group.call("prepare", batch).get<std::vector<Verification>>();
  for (std::size_t i = 0; i < some.size(); ++i) {
    ComparedArm& arm = *some[i];
    arm.verification = answers.at(i);
    arm.prepared_in = rank_group.starts();
    const bool is_stock = &arm == arms_.data();
    arm.is_out =
        !arm.verification.refusal.empty() || (!arm.verification.fault.empty() && !is_stock);
  }
}

std::vector<double> SizeComparison::time_in_order(std::span<const std::size_t> order) {
  std::vector<double> times;
  while (times.size() < order.size()) {
    // Neighbours of one rank_group travel in one request.
    RankGroup* rank_group = arms_[order[times.size()]].rank_group;
    std::vector<int> ids;
    for (std::size_t i = times.size(); i < order.size(); ++i) {
      const ComparedArm& arm = arms_[order[i]];
      if (arm.rank_group != rank_group) break;
      ids.push_back(arm.candidate.id);
    }
    const auto some = rank_group->call("time", {{"ids", ids}, {"launches", options_.launches}})
                          .get<std::vector<double>>();
    times.insert(times.end(), some.begin(), some.end());
  }
  return times;
}

RoundTimes SizeComparison::time_round(std::span<const std::size_t> who) {
  bool is_warm = true;
  while (true) {
    prepare_missing();
    if (is_without_stock()) return {{}, std::vector<std::optional<double>>(who.size())};
    const auto times = try_round(who);
    // The first round of fresh ranks does not count.
    if (times && is_warm) return *times;
    is_warm = times.has_value();
  }
}

// Nothing where an arm failed.
std::optional<RoundTimes> SizeComparison::try_round(std::span<const std::size_t> who) {
  std::vector<std::size_t> order = {0, 0};
  std::copy_if(who.begin(), who.end(), std::back_inserter(order),
               [&](std::size_t index) { return !arms_[index].is_out; });
  std::shuffle(order.begin(), order.end(), random_);
  std::vector<double> times;
  try {
    times = time_in_order(order);
  } catch (const RankFailure& failure) {
    put_out(failure);
    return std::nullopt;
  }
  RoundTimes round{{}, std::vector<std::optional<double>>(who.size())};
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == 0) {
      round.stock_us.push_back(times[i]);
    } else {
      const auto place = std::find(who.begin(), who.end(), order[i]) - who.begin();
      round.us[static_cast<std::size_t>(place)] = times[i];
    }
  }
  return round;
}

void SizeComparison::run_round() {
  std::vector<std::size_t> who;
  for (std::size_t index = 1; index < arms_.size(); ++index) {
    if (!arms_[index].is_out) who.push_back(index);
  }
  const RoundTimes round = time_round(who);
  if (rounds_++ < uncounted_rounds || is_without_stock()) return;
  const double stock = (round.stock_us[0] + round.stock_us[1]) / 2;
  arms_[0].us.push_back(stock);
  arms_[0].ratios.push_back(1);
  for (std::size_t i = 0; i < who.size(); ++i) {
    if (!round.us[i]) continue;
    arms_[who[i]].us.push_back(*round.us[i]);
    arms_[who[i]].ratios.push_back(stock / *round.us[i]);
  }
}

void SizeComparison::run(double limit, std::chrono::steady_clock::time_point deadline) {
  while (!is_without_stock() &&
         (rounds_ < options_.fewest_rounds + uncounted_rounds ||
          (rounds_ < options_.most_rounds + uncounted_rounds && !is_decided(limit) &&
           std::chrono::steady_clock::now() < deadline))) {
    run_round();
  }
}

bool SizeComparison::is_decided(double limit) const {
  return std::all_of(arms_.begin() + 1, arms_.end(), [&](const ComparedArm& arm) {
    const auto ratio = arm.ratio();
    return arm.is_out || (ratio && judge(*ratio, limit) != Verdict::undecided);
  });
}

void SizeComparison::absorb(const SizeComparison& other) {
  for (std::size_t index = 0; index < arms_.size(); ++index) {
    ComparedArm& mine = arms_[index];
    const ComparedArm& theirs = other.arms_.at(index);
    if (mine.medians_elsewhere.empty()) mine.rounds_here = mine.ratios.size();
    if (!theirs.ratios.empty()) mine.medians_elsewhere.push_back(median(theirs.ratios));
    mine.us.insert(mine.us.end(), theirs.us.begin(), theirs.us.end());
    mine.ratios.insert(mine.ratios.end(), theirs.ratios.begin(), theirs.ratios.end());
    mine.is_out = mine.is_out || theirs.is_out;
    if (mine.failure.empty()) mine.failure = theirs.failure;
    mine.verification.wrong += theirs.verification.wrong;
    if (mine.verification.fault.empty()) mine.verification.fault = theirs.verification.fault;
  }
  rounds_ += other.rounds_;
}

void SizeComparison::finish() {
  std::map<RankGroup*, std::vector<int>> ids;
  for (const ComparedArm& arm : arms_) {
    if (arm.rank_group->has_started(arm.prepared_in))
      ids[arm.rank_group].push_back(arm.candidate.id);
  }
  for (const auto& [rank_group, mine] : ids)
    static_cast<void>(rank_group->call("drop", {{"ids", mine}}));
}

void SizeComparison::soak(std::size_t index, int calls) {
  ComparedArm& arm = arms_.at(index);
  int left = (calls + options_.calls - 1) / options_.calls;
  while (left > 0 && !arm.is_out) {
    const int rounds = std::min(left, soak_rounds_a_request);
    left -= rounds;
    try {
      const auto found =
          arm.rank_group
              ->call("soak", {{"id", arm.candidate.id}, {"rounds", rounds}, {"seed", random_()}})
              .get<Verification>();
      arm.verification.wrong += found.wrong;
      arm.verification.fault = found.fault;
      arm.is_out = !found.fault.empty();
    } catch (const RankFailure& failure) {
      put_out(failure);
    }
  }
}

void SizeComparison::drop(std::size_t index) {
  ComparedArm& arm = arms_.at(index);
  arm.is_out = true;
  if (!arm.rank_group->has_started(std::exchange(arm.prepared_in, 0))) return;
  const std::vector<int> ids = {arm.candidate.id};
  static_cast<void>(arm.rank_group->call("drop", {{"ids", ids}}));
}

void SizeComparison::restore(std::size_t index) {
  ComparedArm& arm = arms_.at(index);
  if (!arm.is_out || !arm.is_usable()) return;
  arm.is_out = false;
  arm.prepared_in = 0;
  prepare_missing();
}

bool SizeComparison::has_wrong_sums() const {
  return std::any_of(arms_.begin(), arms_.end(),
                     [](const ComparedArm& arm) { return !arm.verification.fault.empty(); });
}

void SizeComparison::add_failures(Failures& failures) const {
  for (const ComparedArm& arm : arms_)
    if (!arm.failure.empty()) failures.emplace(arm.candidate.name, arm.failure);
}

void SizeComparison::leave_out(const Failures& failures) {
  for (ComparedArm& arm : arms_) {
    const auto found = failures.find(arm.candidate.name);
    if (found == failures.end()) continue;
    arm.is_out = true;
    arm.failure = found->second;
  }
}

}  // namespace lanewise::bench
