// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_screen.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "comparison/choice_survey.hpp"
#include "comparison/sizes.hpp"
#include "core/error.hpp"
#include "core/profile/base_environment.hpp"
#include "core/profile/environment_key.hpp"
#include "core/profile/environment_plan.hpp"
#include "host/process/settings.hpp"

namespace lanewise::bench {
namespace {

using Clock = std::chrono::steady_clock;

// What stock's environment has over host memory, and best at the smallest sizes screened.
constexpr int few_channels = 4;

// Each kind that wins at some size and channel count of data/allreduce_h200x2.csv, on few, half and
// all channels of the communicator; beside them Lanewise's own choice. Entries that NCCL does not
// cost drop out.
std::vector<Choice> choices_with(int channels) {
  std::set<int> counts = {std::min(few_channels, channels), channels};
  if (channels > 2 * few_channels) counts.insert(channels / 2);
  std::vector<Choice> choices = {{Algorithm::ring, Protocol::simple, 0}};
  for (const int count : counts)
    for (const Algorithm algorithm : {Algorithm::tree, Algorithm::ring})
      choices.push_back({algorithm, Protocol::ll, count});
  return choices;
}

// What decode and speculative verify steps call (FIELD.md): the sizes that an environment is for.
// It is held against stock at every size before it is anybody's best.
constexpr std::size_t least_of_interest = std::size_t{8} << 10;
constexpr std::size_t most_of_interest = std::size_t{512} << 10;
constexpr std::size_t sizes_screened = 4;

// Evenly spaced among those of interest; among all where none is.
std::vector<std::size_t> pick_sizes(const std::vector<std::size_t>& sizes) {
  std::vector<std::size_t> pool;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(pool), [](std::size_t bytes) {
    return bytes >= least_of_interest && bytes <= most_of_interest;
  });
  if (pool.empty()) pool = sizes;
  std::vector<std::size_t> picked;
  for (std::size_t i = 0; i < sizes_screened; ++i)
    picked.push_back(pool[(2 * i + 1) * pool.size() / (2 * sizes_screened)]);
  picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
  return picked;
}

bool holds(const Environment& variables, const std::string& assignment) {
  return std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
    return variable.first + "=" + variable.second == assignment;
  });
}

class Screener {
 public:
  Screener(const Machine& machine, const ScreenOptions& options)
      : machine_(machine), options_(options), sizes_(pick_sizes(options.sizes)) {
    options_.ranks = with_short_timeout(options_.ranks);
    options_.timing.is_one_failure_enough = true;  // each that hangs takes the whole limit
    stock_ = open("stock", environment_without_plugin(machine), "");
    // Before anybody else is there: free memory is the whole device's.
    for (const std::size_t bytes : sizes_) {
      SizeComparison comparison(bytes, options_.timing, {stock_arm(*stock_)});
      comparison.prepare();
      throw_where_stock_failed(comparison);
      comparison.finish();
    }
    stock_memory_ = memory_of(*stock_);
  }

  // Of the environment screened last.
  Ll128Buffers ll128_buffers() const { return ll128_; }

  // A failure of these ranks is the environment's; one of stock's ranks is everybody's.
  Screening screen(const Environment& variables) {
    Screening screening{variables, 0, 0, ""};
    try {
      measure(screening);
    } catch (const std::runtime_error& error) {
      screening.fault = error.what();
      static_cast<void>(memory_of(*stock_));
    }
    return screening;
  }

 private:
  std::unique_ptr<RankGroup> open(const std::string& label, const Environment& variables,
                                  const std::string& inject) const {
    RankOptions ranks = options_.ranks;
    ranks.inject = inject;
    return open_rank_group(machine_, ranks, {label, variables, options_.type, sizes_.back()});
  }

  void measure(Screening& screening) {
    auto variables = environment_with_plugin(machine_);
    for (const auto& [name, value] : screening.variables) variables.insert_or_assign(name, value);
    const bool is_injected =
        !options_.inject_in.empty() && holds(screening.variables, options_.inject_in);
    const auto rank_group =
        open(to_string(screening.variables), variables, is_injected ? options_.ranks.inject : "");
    const auto survey = survey_choices(*rank_group, machine_, sizes_.back());
    ll128_ = buffers_needed(survey);
    const auto choices = choices_with(
        std::min(survey.communicator.channels, survey.channels_that_fit.value_or(INT_MAX)));
    std::vector<double> ratios;
    for (const std::size_t bytes : sizes_) {
      const auto ratio = compare(arms(*rank_group, choices), bytes, screening);
      if (!screening.fault.empty()) return;
      ratios.push_back(ratio);
    }
    screening.speedup = geometric_mean(ratios);
    screening.memory_bytes = memory_of(*rank_group) - stock_memory_;
    rank_group->kill();
  }

  static Ll128Buffers buffers_needed(const ChoiceSurvey& survey) {
    const bool has_ll128 =
        std::any_of(survey.entries.begin(), survey.entries.end(),
                    [](const Choice& entry) { return entry.protocol == Protocol::ll128; });
    return has_ll128 ? Ll128Buffers::needed : Ll128Buffers::idle;
  }

  // The best ratio at one size; a fault where any sum was wrong, also that of a slow choice.
  double compare(std::vector<ComparedArm> arms, std::size_t bytes, Screening& screening) {
    SizeComparison comparison(bytes, options_.timing, std::move(arms));
    comparison.prepare();
    throw_where_stock_failed(comparison);
    double best = 0;
    // Of a failure the whole environment is accused: what a server does in it by itself, it may.
    if (!find_fault(comparison, screening.fault)) comparison.run(gain_limit, Clock::now());
    throw_where_stock_failed(comparison);
    if (find_fault(comparison, screening.fault)) {
      comparison.finish();
      return best;
    }
    for (const ComparedArm& arm : comparison.arms().subspan(1))
      if (const auto ratio = arm.ratio()) best = std::max(best, ratio->median);
    comparison.finish();
    if (best <= 0) throw std::runtime_error("no choice could be timed at " + show_size(bytes));
    return best;
  }

  std::vector<ComparedArm> arms(RankGroup& rank_group, const std::vector<Choice>& choices) const {
    std::vector<ComparedArm> all = {stock_arm(*stock_)};
    all.push_back({.rank_group = &rank_group, .candidate = {.name = "lanewise"}});
    for (const Choice& choice : choices) all.push_back(choice_arm(rank_group, choice));
    return all;
  }

  static bool find_fault(const SizeComparison& comparison, std::string& fault) {
    for (const ComparedArm& arm : comparison.arms().subspan(1)) {
      const auto& found = arm.failure.empty() ? arm.verification.fault : arm.failure;
      if (found.empty()) continue;
      fault = arm.candidate.name + " at " + show_size(comparison.bytes()) + ": " + found;
      return true;
    }
    return false;
  }

  // memory_of() then finds these ranks gone, which ends the screening.
  void throw_where_stock_failed(const SizeComparison& comparison) const {
    const ComparedArm& stock = comparison.arms().front();
    if (!stock.is_out) return;
    if (!stock.failure.empty()) stock_->kill();
    throw RankFailure("stock at " + show_size(comparison.bytes()) + ": " +
                      (stock.failure.empty() ? stock.verification.refusal : stock.failure));
  }

  static long long memory_of(RankGroup& rank_group) {
    return rank_group.call("memory", nlohmann::json::object()).at("bytes").get<long long>();
  }

  const Machine& machine_;
  ScreenOptions options_;
  std::vector<std::size_t> sizes_;
  std::unique_ptr<RankGroup> stock_;
  long long stock_memory_ = 0;
  Ll128Buffers ll128_ = Ll128Buffers::needed;
};

}  // namespace

void apply(const EnvironmentOptions& said, ScreenOptions& options) {
  options.memory_limit_bytes = parse_memory(said.memory);
  options.inject_in = said.inject_in;
  options.given.clear();
  for (const auto& text : said.given) options.given.push_back(parse_variables(text));
}

ScreenOutcome screen_environments(const Machine& machine, const ScreenOptions& options,
                                  const std::function<void(const Screening&)>& report) {
  const auto end = Clock::now() + std::chrono::duration<double>(options.budget_s);
  const auto own = host::read_process_environment();
  Screener screener(machine, options);
  const auto screen = [&](const Environment& variables) {
    auto screening = screener.screen(variables);
    report(screening);
    return screening;
  };
  // What `lanewise run` starts with where nothing was measured; without it only where it fails
  // here.
  const auto keyed = keyed_part(own);
  auto start = keyed;
  start.merge(base_environment(machine.nccl));
  auto base = screen(start);
  std::vector<UnsafeSetting> unsafe;
  if (!base.fault.empty() && start != keyed) {
    unsafe.push_back({start, base.fault});
    base = screen(keyed);
  }
  const auto axes = options.given.empty()
                        ? setting_axes(own, options.graph_file, screener.ll128_buffers(),
                                       machine.channels_that_fit())
                        : given_axes(options.given);
  EnvironmentSearch search(base.variables, axes, options.memory_limit_bytes);
  search.record(base);
  auto variables = search.next();
  for (; variables && Clock::now() < end; variables = search.next())
    search.record(screen(*variables));
  const auto later = search.unsafe_settings();
  unsafe.insert(unsafe.end(), later.begin(), later.end());
  return {search.screenings(), search.worthwhile(), unsafe, !variables};
}

}  // namespace lanewise::bench
