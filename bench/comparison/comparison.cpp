// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "comparison.hpp"

#include <algorithm>
#include <map>
#include <set>

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

std::optional<Estimate> ComparedArm::time() const {
  if (us.empty()) return std::nullopt;
  return estimate_median(us);
}

std::optional<Estimate> ComparedArm::ratio() const {
  if (ratios.empty()) return std::nullopt;
  return estimate_median(ratios);
}

Verdict ComparedArm::verdict() const {
  const auto estimate = ratio();
  if (!estimate) return Verdict::undecided;
  std::vector<double> medians = medians_elsewhere;
  const bool is_one = medians.empty();
  const std::size_t own = is_one ? ratios.size() : rounds_here;
  if (own > 0) medians.push_back(median(std::span(ratios).first(own)));
  // Both the rounds and, where there are several, the communicators must say so.
  const auto is_sure = [&](double limit, Verdict wanted) {
    return judge(*estimate, limit) == wanted && (is_one || judge_across(medians, limit) == wanted);
  };
  if (is_sure(gain_limit, Verdict::better)) return Verdict::better;
  if (is_sure(never_worse_limit, Verdict::worse)) return Verdict::worse;
  return Verdict::undecided;
}

std::vector<ComparedArm> arms_at(std::size_t bytes, const ArmSet& arm_set) {
  std::vector<ComparedArm> arms;
  for (const RunningArm& arm : arm_set.arms) {
    Candidate candidate{0, arm.plan.name, arm.plan.arm, arm.plan.forced(bytes),
                        arm.plan.is_one_shot};
    if (candidate.forced) candidate.arm = ControlMode::settings;
    arms.push_back({arm.rank_group, candidate, {}, false, {}, {}});
  }
  return arms;
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

void SizeComparison::prepare() {
  std::set<RankGroup*> groups;
  for (const ComparedArm& compared : arms_) groups.insert(compared.rank_group);
  for (RankGroup* rank_group : groups) {
    std::vector<ComparedArm*> mine;
    for (ComparedArm& compared : arms_) {
      if (compared.rank_group == rank_group) mine.push_back(&compared);
    }
    prepare_in(*rank_group, mine);
  }
}

void SizeComparison::prepare_in(RankGroup& rank_group, std::span<ComparedArm* const> some) {
  const CallMode mode = options_.is_eager ? CallMode::eager : CallMode::graph;
  for (std::size_t first = 0; first < some.size(); first += candidates_a_request) {
    const auto part = some.subspan(first, std::min(some.size() - first, candidates_a_request));
    Batch batch{bytes_, options_.calls, mode, random_(), gap_us_, trace_, {}};
    for (const ComparedArm* compared : part) batch.candidates.push_back(compared->candidate);
    const auto answers = rank_group.call("prepare", batch).get<std::vector<Verification>>();
    for (std::size_t i = 0; i < part.size(); ++i) {
      ComparedArm& compared = *part[i];
      compared.verification = answers.at(i);
      const bool is_stock = &compared == arms_.data();
      compared.is_out = compared.verification.is_unavailable ||
                        (!compared.verification.fault.empty() && !is_stock);
    }
  }
}

std::vector<double> SizeComparison::time_in_order(std::span<const std::size_t> order) {
  std::vector<double> times;
  while (times.size() < order.size()) {
    // Neighbours of one rank_group travel in one request.
    RankGroup* rank_group = arms_[order[times.size()]].rank_group;
    std::vector<int> ids;
    for (std::size_t i = times.size(); i < order.size(); ++i) {
      const ComparedArm& compared = arms_[order[i]];
      if (compared.rank_group != rank_group) break;
      ids.push_back(compared.candidate.id);
    }
    const auto some = rank_group->call("time", {{"ids", ids}, {"launches", options_.launches}})
                          .get<std::vector<double>>();
    times.insert(times.end(), some.begin(), some.end());
  }
  return times;
}

RoundTimes SizeComparison::time_round(std::span<const std::size_t> who) {
  std::vector<std::size_t> order = {0, 0};
  order.insert(order.end(), who.begin(), who.end());
  std::shuffle(order.begin(), order.end(), random_);
  const auto times = time_in_order(order);
  RoundTimes round{{}, std::vector<double>(who.size())};
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
  if (rounds_++ < uncounted_rounds) return;
  const double stock = (round.stock_us[0] + round.stock_us[1]) / 2;
  arms_[0].us.push_back(stock);
  arms_[0].ratios.push_back(1);
  for (std::size_t i = 0; i < who.size(); ++i) {
    arms_[who[i]].us.push_back(round.us[i]);
    arms_[who[i]].ratios.push_back(stock / round.us[i]);
  }
}

void SizeComparison::run(double limit, std::chrono::steady_clock::time_point deadline) {
  while (rounds_ < options_.fewest_rounds + uncounted_rounds ||
         (rounds_ < options_.most_rounds + uncounted_rounds && !is_decided(limit) &&
          std::chrono::steady_clock::now() < deadline)) {
    run_round();
  }
}

bool SizeComparison::is_decided(double limit) const {
  return std::all_of(arms_.begin() + 1, arms_.end(), [&](const ComparedArm& compared) {
    const auto ratio = compared.ratio();
    return compared.is_out || (ratio && judge(*ratio, limit) != Verdict::undecided);
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
    mine.verification.wrong += theirs.verification.wrong;
    if (mine.verification.fault.empty()) mine.verification.fault = theirs.verification.fault;
  }
  rounds_ += other.rounds_;
}

void SizeComparison::finish() {
  std::map<RankGroup*, std::vector<int>> ids;
  for (const ComparedArm& compared : arms_) {
    ids[compared.rank_group].push_back(compared.candidate.id);
  }
  for (const auto& [rank_group, mine] : ids)
    static_cast<void>(rank_group->call("drop", {{"ids", mine}}));
}

void SizeComparison::soak(std::size_t index, int calls) {
  ComparedArm& compared = arms_.at(index);
  int left = (calls + options_.calls - 1) / options_.calls;
  while (left > 0 && !compared.is_out) {
    const int rounds = std::min(left, soak_rounds_a_request);
    left -= rounds;
    const auto found =
        compared.rank_group
            ->call("soak", {{"id", compared.candidate.id}, {"rounds", rounds}, {"seed", random_()}})
            .get<Verification>();
    if (found.fault.empty()) continue;
    compared.verification.wrong += found.wrong;
    compared.verification.fault = found.fault;
    compared.is_out = true;
  }
}

void SizeComparison::drop(std::size_t index) {
  ComparedArm& compared = arms_.at(index);
  compared.is_out = true;
  const std::vector<int> ids = {compared.candidate.id};
  static_cast<void>(compared.rank_group->call("drop", {{"ids", ids}}));
}

void SizeComparison::restore(std::size_t index) {
  ComparedArm& compared = arms_.at(index);
  if (!compared.is_out || !compared.verification.is_usable()) return;
  ComparedArm* const alone = &compared;
  prepare_in(*compared.rank_group, {&alone, 1});
}

bool SizeComparison::has_wrong_sums() const {
  return std::any_of(arms_.begin(), arms_.end(), [](const ComparedArm& compared) {
    return !compared.verification.fault.empty();
  });
}

}  // namespace lanewise::bench
