// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "contest.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace lanewise::bench {
namespace {

// A request builds this many, so that a gang's time-out is about a few graphs, not a whole sweep.
constexpr std::size_t candidates_a_request = 8;

// Some seconds at the largest sizes.
constexpr int soak_rounds_a_request = 100;

// The first round of a fresh gang finds cold clocks and page tables: it is not counted.
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

std::optional<Estimate> Contender::time() const {
  if (us.empty()) return std::nullopt;
  return estimate_median(us);
}

std::optional<Estimate> Contender::ratio() const {
  if (ratios.empty()) return std::nullopt;
  return estimate_median(ratios);
}

Verdict Contender::verdict() const {
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

std::vector<Contender> contenders_at(std::size_t bytes, const Field& field) {
  std::vector<Contender> contenders;
  for (const RunningArm& arm : field.arms) {
    Candidate candidate{0, arm.plan.name, arm.plan.arm, arm.plan.forced(bytes),
                        arm.plan.is_one_shot};
    if (candidate.forced) candidate.arm = Arm::settings;
    contenders.push_back({arm.gang, candidate, {}, false, {}, {}});
  }
  return contenders;
}

Contest::Contest(std::size_t bytes, TimingOptions options, std::vector<Contender> contenders,
                 int first_id)
    : bytes_(bytes),
      options_(options),
      contenders_(std::move(contenders)),
      random_(options.seed + bytes) {
  for (std::size_t index = 0; index < contenders_.size(); ++index) {
    contenders_[index].candidate.id = first_id + static_cast<int>(index);
  }
}

void Contest::set_step(double gap_us, std::vector<std::size_t> trace) {
  gap_us_ = gap_us;
  trace_ = std::move(trace);
}

void Contest::prepare() {
  std::set<Gang*> gangs;
  for (const Contender& contender : contenders_) gangs.insert(contender.gang);
  for (Gang* gang : gangs) {
    std::vector<Contender*> mine;
    for (Contender& contender : contenders_) {
      if (contender.gang == gang) mine.push_back(&contender);
    }
    prepare_in(*gang, mine);
  }
}

void Contest::prepare_in(Gang& gang, std::span<Contender* const> some) {
  const Mode mode = options_.is_eager ? Mode::eager : Mode::graph;
  for (std::size_t first = 0; first < some.size(); first += candidates_a_request) {
    const auto part = some.subspan(first, std::min(some.size() - first, candidates_a_request));
    Batch batch{bytes_, options_.calls, mode, random_(), gap_us_, trace_, {}};
    for (const Contender* contender : part) batch.candidates.push_back(contender->candidate);
    const auto answers = gang.call("prepare", batch).get<std::vector<Verification>>();
    for (std::size_t i = 0; i < part.size(); ++i) {
      Contender& contender = *part[i];
      contender.verification = answers.at(i);
      const bool is_stock = &contender == contenders_.data();
      contender.is_out = contender.verification.is_unavailable ||
                         (!contender.verification.fault.empty() && !is_stock);
    }
  }
}

std::vector<double> Contest::time_in_order(std::span<const std::size_t> order) {
  std::vector<double> times;
  while (times.size() < order.size()) {
    // Neighbours of one gang travel in one request.
    Gang* gang = contenders_[order[times.size()]].gang;
    std::vector<int> ids;
    for (std::size_t i = times.size(); i < order.size(); ++i) {
      const Contender& contender = contenders_[order[i]];
      if (contender.gang != gang) break;
      ids.push_back(contender.candidate.id);
    }
    const auto some = gang->call("time", {{"ids", ids}, {"launches", options_.launches}})
                          .get<std::vector<double>>();
    times.insert(times.end(), some.begin(), some.end());
  }
  return times;
}

RoundTimes Contest::time_round(std::span<const std::size_t> who) {
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

void Contest::run_round() {
  std::vector<std::size_t> who;
  for (std::size_t index = 1; index < contenders_.size(); ++index) {
    if (!contenders_[index].is_out) who.push_back(index);
  }
  const RoundTimes round = time_round(who);
  if (rounds_++ < uncounted_rounds) return;
  const double stock = (round.stock_us[0] + round.stock_us[1]) / 2;
  contenders_[0].us.push_back(stock);
  contenders_[0].ratios.push_back(1);
  for (std::size_t i = 0; i < who.size(); ++i) {
    contenders_[who[i]].us.push_back(round.us[i]);
    contenders_[who[i]].ratios.push_back(stock / round.us[i]);
  }
}

void Contest::run(double limit, std::chrono::steady_clock::time_point deadline) {
  while (rounds_ < options_.fewest_rounds + uncounted_rounds ||
         (rounds_ < options_.most_rounds + uncounted_rounds && !is_decided(limit) &&
          std::chrono::steady_clock::now() < deadline)) {
    run_round();
  }
}

bool Contest::is_decided(double limit) const {
  return std::all_of(contenders_.begin() + 1, contenders_.end(), [&](const Contender& contender) {
    const auto ratio = contender.ratio();
    return contender.is_out || (ratio && judge(*ratio, limit) != Verdict::undecided);
  });
}

void Contest::absorb(const Contest& other) {
  for (std::size_t index = 0; index < contenders_.size(); ++index) {
    Contender& mine = contenders_[index];
    const Contender& theirs = other.contenders_.at(index);
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

void Contest::finish() {
  std::map<Gang*, std::vector<int>> ids;
  for (const Contender& contender : contenders_) {
    ids[contender.gang].push_back(contender.candidate.id);
  }
  for (const auto& [gang, mine] : ids) static_cast<void>(gang->call("drop", {{"ids", mine}}));
}

void Contest::soak(std::size_t index, int calls) {
  Contender& contender = contenders_.at(index);
  int left = (calls + options_.calls - 1) / options_.calls;
  while (left > 0 && !contender.is_out) {
    const int rounds = std::min(left, soak_rounds_a_request);
    left -= rounds;
    const auto found =
        contender.gang
            ->call("soak",
                   {{"id", contender.candidate.id}, {"rounds", rounds}, {"seed", random_()}})
            .get<Verification>();
    if (found.fault.empty()) continue;
    contender.verification.wrong += found.wrong;
    contender.verification.fault = found.fault;
    contender.is_out = true;
  }
}

void Contest::drop(std::size_t index) {
  Contender& contender = contenders_.at(index);
  contender.is_out = true;
  const std::vector<int> ids = {contender.candidate.id};
  static_cast<void>(contender.gang->call("drop", {{"ids", ids}}));
}

void Contest::restore(std::size_t index) {
  Contender& contender = contenders_.at(index);
  if (!contender.is_out || !contender.verification.is_usable()) return;
  Contender* const alone = &contender;
  prepare_in(*contender.gang, {&alone, 1});
}

bool Contest::has_wrong_sums() const {
  return std::any_of(contenders_.begin(), contenders_.end(), [](const Contender& contender) {
    return !contender.verification.fault.empty();
  });
}

}  // namespace lanewise::bench
