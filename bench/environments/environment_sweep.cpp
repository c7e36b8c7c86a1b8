// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "environment_sweep.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "comparison/sizes.hpp"
#include "core/error.hpp"
#include "core/profile/environment_key.hpp"
#include "core/profile/environment_plan.hpp"
#include "gpu/devices.hpp"
#include "host/machine/topology_source.hpp"
#include "host/process/settings.hpp"

namespace lanewise::bench {
namespace {

// Fewer than a sweep's: each size has its choice by now, this only holds it against stock.
constexpr int check_rounds = 8;

// Of prefill, where a call takes milliseconds.
constexpr int prefill_calls = 4;

// Positions in the topology; empty where one GPU is not found there.
std::vector<int> positions_of_ranks(const Topology& topology, int ranks) {
  const auto devices = list_devices();
  std::vector<int> positions;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& device = devices[static_cast<std::size_t>(rank) % devices.size()];
    const auto address = parse_pci_address(device.pci);
    const auto position = address ? topology.find_gpu(*address) : std::nullopt;
    if (!position) return {};
    positions.push_back(static_cast<int>(*position));
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

std::size_t largest_checked(const TuneRequest& request) {
  std::size_t most = request.sizes.back();
  for (const std::size_t bytes : request.prefill_sizes) most = std::max(most, bytes);
  return most;
}

double mean_speedup(const RuleSet& rules, const std::vector<MeasuredSize>& sizes) {
  std::vector<double> ratios;
  for (const MeasuredSize& size : sizes) {
    ratios.push_back(rules.find(size.bytes) != nullptr ? size.ratio.median : 1.0);
  }
  return geometric_mean(ratios);
}

// None of a tune of few sizes.
std::optional<MachineFit> fit_times(const std::vector<MeasuredTime>& times) {
  try {
    return fit_machine(times);
  } catch (const Error& error) {
    std::printf("no fit of the model: %s\n", error.what());
    return std::nullopt;
  }
}

// No fault of the environment: more blocks than the GPUs of this machine hold at once.
struct NotTried : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct AgainstStock {
  double speedup = 0;
  std::string slower;  // sizes at which it is slower for sure, for people; empty: none
};

// As the plugin will do there: by a rule, by NCCL, or by the wave model.
std::vector<ComparedArm> arms(SweptEnvironment& base, SweptEnvironment& swept, std::size_t bytes) {
  const RuleSet& rules = swept.tuned.groups.front().rules;
  const Rule* rule = rules.find(bytes);
  ComparedArm mine{.rank_group = swept.rank_group.get(), .candidate = {.name = "without a rule"}};
  if (rule != nullptr) mine = choice_arm(*swept.rank_group, rule->choice);
  if (rules.keeps_stock(bytes)) mine.candidate.arm = ControlMode::stock;
  return {stock_arm(*base.rank_group), mine};
}

Estimate ratio_to_stock(SweptEnvironment& base, SweptEnvironment& swept, std::size_t bytes,
                        const TimingOptions& timing) {
  SizeComparison comparison(bytes, timing, arms(base, swept, bytes));
  comparison.prepare();
  comparison.run(never_worse_limit, std::chrono::steady_clock::now());
  comparison.finish();
  for (const ComparedArm& arm : comparison.arms()) {
    const std::string what = arm.candidate.name + " at " + show_size(bytes) + ": ";
    if (!arm.verification.refusal.empty()) throw NotTried(what + arm.verification.refusal);
    if (!arm.failure.empty()) throw std::runtime_error(what + arm.failure);
  }
  const ComparedArm& mine = comparison.arms()[1];
  if (!mine.verification.fault.empty())
    throw std::runtime_error(mine.candidate.name + " at " + show_size(bytes) + ": " +
                             mine.verification.fault);
  const auto ratio = mine.ratio();
  if (!ratio) throw std::runtime_error("its choice could not be timed at " + show_size(bytes));
  return *ratio;
}

AgainstStock hold_against_stock(SweptEnvironment& base, SweptEnvironment& swept,
                                const TuneRequest& request) {
  TimingOptions timing;
  timing.fewest_rounds = timing.most_rounds = check_rounds;
  timing.seed = request.seed;
  AgainstStock result;
  std::vector<double> ratios;
  const auto hold = [&](std::size_t bytes) {
    const Estimate ratio = ratio_to_stock(base, swept, bytes, timing);
    if (judge(ratio, never_worse_limit) == Verdict::worse)
      result.slower += (result.slower.empty() ? "" : ", ") + show_size(bytes);
    return ratio.median;
  };
  for (const std::size_t bytes : request.sizes) ratios.push_back(hold(bytes));
  result.speedup = geometric_mean(ratios);
  timing.calls = prefill_calls;
  for (const std::size_t bytes : request.prefill_sizes) static_cast<void>(hold(bytes));
  return result;
}

// The fastest, and where that fails the one that the search began with, as it is safe at least;
// stock's environment is swept already.
std::vector<Screening> worth_sweeping(const ScreenOutcome& outcome) {
  const auto stock = keyed_part(host::read_process_environment());
  std::vector<Screening> some;
  if (outcome.worthwhile.empty()) return some;
  for (const Screening& screening : {outcome.worthwhile.front(), outcome.screenings.front()}) {
    const bool is_known = !some.empty() && some.front() == screening;
    if (screening.variables != stock && !is_known) some.push_back(screening);
  }
  return some;
}

// Whether it came into the profile.
bool settle(Profile& profile, SweptEnvironment& base, SweptEnvironment& swept,
            const TuneRequest& request) {
  if (!swept.outcome.faults.empty()) throw std::runtime_error(swept.outcome.faults.front());
  const auto result = hold_against_stock(base, swept, request);
  swept.tuned.speedup = result.speedup;
  std::printf("%s: %s\n", to_string(swept.tuned.variables).c_str(),
              describe_measurement(swept.tuned).c_str());
  if (!result.slower.empty()) {
    // Nor is it anybody's second best: what is in the profile may be applied.
    std::printf("slower than stock at %s, so it is left out\n", result.slower.c_str());
    return false;
  }
  profile.environments.push_back(swept.tuned);
  const bool is_gain = swept.tuned.speedup > base.tuned.speedup * gain_limit;
  if (is_gain) profile.best_environment = profile.environments.size() - 1;
  return true;
}

bool sweep_screened(Profile& profile, const Machine& machine, const ScreenOptions& screen,
                    const TuneRequest& request, SweptEnvironment& base,
                    const Screening& screening) {
  RankOptions ranks = with_short_timeout(screen.ranks);
  ranks.inject.clear();
  try {
    auto swept = sweep_environment(machine, ranks, screening.variables, screen.type, request);
    swept.tuned.memory_bytes = screening.memory_bytes;
    return settle(profile, base, swept, request);
  } catch (const NotTried& error) {
    std::printf("left out %s: %s\n", to_string(screening.variables).c_str(), error.what());
    return false;
  } catch (const std::runtime_error& error) {
    profile.unsafe.push_back({screening.variables, error.what()});
    std::printf("UNSAFE %s: %s\n", to_string(screening.variables).c_str(), error.what());
    return false;
  }
}

}  // namespace

SweptEnvironment sweep_environment(const Machine& machine, const RankOptions& ranks,
                                   const Environment& variables, DataType type,
                                   const TuneRequest& request) {
  auto all = environment_with_plugin(machine);
  for (const auto& [name, value] : variables) all.insert_or_assign(name, value);
  const std::string label = variables.empty() ? "tune" : "tune with " + to_string(variables);
  SweptEnvironment swept;
  swept.rank_group = open_rank_group(machine, ranks, {label, all, type, largest_checked(request)});
  const auto survey = survey_choices(*swept.rank_group, machine, request.sizes.back());
  std::printf("NCCL %s, %d ranks on %d GPUs, %d channels, %s\n", to_string(machine.nccl).c_str(),
              machine.ranks, machine.gpus, survey.communicator.channels,
              to_string(variables).c_str());
  swept.outcome = tune_choices(*swept.rank_group, survey, request);
  GpuGroup group{machine.ranks, positions_of_ranks(host::read_topology(), machine.ranks),
                 swept.outcome.is_ll128_verified,
                 build_rules(swept.outcome.sizes, survey.communicator), survey.link};
  if (survey.has_counted_channels) group.fit = fit_times(swept.outcome.times);
  group.unsafe = request.unsafe;
  group.unsafe.insert(group.unsafe.end(), swept.outcome.unsafe.begin(), swept.outcome.unsafe.end());
  swept.tuned.variables = keyed_part(swept.rank_group->environment());
  swept.tuned.speedup = mean_speedup(group.rules, swept.outcome.sizes);
  swept.tuned.groups.push_back(std::move(group));
  return swept;
}

void tune_environments(Profile& profile, const Machine& machine, const ScreenOptions& screen,
                       const TuneRequest& request, SweptEnvironment& base) {
  std::printf("environments: gain over stock, memory of a rank beyond stock's\n");
  const auto outcome = screen_environments(machine, screen, show_screening);
  profile.unsafe = outcome.unsafe;
  if (!outcome.is_complete) std::printf("the budget ended the search\n");
  const auto some = worth_sweeping(outcome);
  if (some.empty()) std::printf("no environment is known to beat stock's\n");
  for (const Screening& screening : some)
    if (sweep_screened(profile, machine, screen, request, base, screening)) return;
}

void show_screening(const Screening& screening) {
  constexpr double bytes_per_mebibyte = 1024.0 * 1024.0;
  const auto name = to_string(screening.variables);
  if (screening.fault.empty()) {
    std::printf("%6.3f  %8.1f MiB  %s\n", screening.speedup,
                static_cast<double>(screening.memory_bytes) / bytes_per_mebibyte, name.c_str());
  } else {
    std::printf("UNSAFE  %12s  %s: %s\n", "", name.c_str(), screening.fault.c_str());
  }
  std::fflush(stdout);
}

}  // namespace lanewise::bench
