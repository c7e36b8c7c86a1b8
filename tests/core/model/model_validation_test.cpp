// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// How far the model is from what was measured, printed for each communicator of the data: fitted on
// every second size, judged on the sizes between. Fails where it gets worse than it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "core/decision/explanation.hpp"
#include "core/decision/replay.hpp"
#include "core/model/fit.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

using testing::MeasuredTime;
using testing::Measurements;

constexpr int channels_of_data = 4;  // two rings found, doubled, where no variable says more
constexpr double fit_error = 0.15;

struct Limits {
  double median_error = 0.10;
  double error_of_90_percent = 0.25;
  double coverage = 0.90;
  double rank_correlation = 0.90;
  double regret_of_median = 1.05;
  double worst_gain = 0.98;
};

// The times of every second size, of what the model knows.
std::vector<MeasuredTime> half_of(const Measurements& measurements, std::size_t parity) {
  std::vector<std::size_t> sizes;
  for (const auto& [bytes, us] : measurements.stock_us) sizes.push_back(bytes);
  const PolicyInputs& inputs = measurements.inputs;
  const Communicator communicator{inputs.ranks,
                                  inputs.limits.min_channels.value_or(channels_of_data),
                                  inputs.release, inputs.limits, inputs.sharing};
  std::vector<MeasuredTime> times;
  for (const auto& [key, us] : measurements.us) {
    const auto choice = parse_choice(key.second).value();
    const auto index = std::ranges::find(sizes, key.first) - sizes.begin();
    const auto largest_tree = measured_constants(inputs.sharing).largest_tree_bytes;
    if (static_cast<std::size_t>(index) % 2 != parity ||
        !is_modelled(choice.algorithm, choice.protocol))
      continue;
    if (choice.algorithm == Algorithm::tree && key.first > largest_tree) continue;
    times.push_back({choice, key.first, communicator, us});
  }
  return times;
}

using Series = std::tuple<GpuSharing, Algorithm, Protocol>;
Series series_of(const MeasuredTime& time) {
  return {time.communicator.sharing, time.choice.algorithm, time.choice.protocol};
}

std::map<Series, LatencyTerms> fit_halves(const std::map<std::string, Measurements>& all) {
  std::map<Series, std::vector<MeasuredTime>> series;
  for (const auto& [name, measurements] : all)
    for (const auto& time : half_of(measurements, 0)) series[series_of(time)].push_back(time);
  std::map<Series, LatencyTerms> fits;
  for (const auto& [key, times] : series) fits[key] = testing::fit_terms(times).value();
  return fits;
}

double predicted(const MeasuredTime& time, const LatencyTerms& terms) {
  const Launch launch = launch_of(time.choice, time.bytes, time.communicator);
  return predict(terms, time.choice, time.bytes, time.communicator.ranks, launch, fitted_machine)
      .total_us();
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// Kendall's tau: of all pairs, those in the right order less those in the wrong one.
double rank_correlation(const std::vector<MeasuredTime>& times, const std::vector<double>& us) {
  int right = 0;
  int wrong = 0;
  for (std::size_t i = 0; i < times.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const double sign = (us[i] - us[k]) * (times[i].us - times[k].us);
      right += sign > 0 ? 1 : 0;
      wrong += sign < 0 ? 1 : 0;
    }
  return static_cast<double>(right - wrong) / (right + wrong);
}

struct Verdict {
  double median_error, error_of_90_percent, coverage, tau, median_regret, worst_gain;
};

Verdict judge(const Measurements& measurements, const std::map<Series, LatencyTerms>& fits) {
  const auto times = half_of(measurements, 1);
  std::vector<double> us;
  std::vector<double> errors;
  for (const auto& time : times) {
    us.push_back(predicted(time, fits.at(series_of(time))));
    errors.push_back(std::abs(us.back() / time.us - 1));
  }
  const Policy policy(measurements.inputs);
  std::vector<double> regrets;
  double worst = 10;
  for (const auto& [bytes, stock_us] : measurements.stock_us) {
    const auto gain = testing::gain_of(measurements, policy, bytes);
    if (!gain) continue;
    double best = stock_us;
    for (const auto& [key, measured] : measurements.us)
      if (key.first == bytes) best = std::min(best, measured);
    regrets.push_back(stock_us / *gain / best);
    worst = std::min(worst, *gain);
  }
  const auto covered = std::ranges::count_if(errors, [](double e) { return e <= fit_error; });
  return {quantile(errors, 0.5),
          quantile(errors, 0.9),
          static_cast<double>(covered) / static_cast<double>(errors.size()),
          rank_correlation(times, us),
          quantile(regrets, 0.5),
          worst};
}

void expect_within(const Verdict& verdict, const Limits& limits) {
  EXPECT_LE(verdict.median_error, limits.median_error);
  EXPECT_LE(verdict.error_of_90_percent, limits.error_of_90_percent);
  EXPECT_GE(verdict.coverage, limits.coverage);
  EXPECT_GE(verdict.tau, limits.rank_correlation);
  EXPECT_LE(verdict.median_regret, limits.regret_of_median);
  EXPECT_GE(verdict.worst_gain, limits.worst_gain);
}

class ModelValidation : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelValidation, HoldsOnTheSizesThatItWasNotFittedTo) {
  const auto all = testing::read_measurements(testing::test_file(GetParam()));
  const auto fits = fit_halves(all);
  std::printf("%7s %5s %8s %6s %7s %7s  data\n", "median", "90 %", "covered", "tau", "regret",
              "worst");
  for (const auto& [name, measurements] : all) {
    const Verdict verdict = judge(measurements, fits);
    std::printf("%6.1f%% %4.0f%% %7.0f%% %6.2f %7.2f %7.2f  %s\n", 100 * verdict.median_error,
                100 * verdict.error_of_90_percent, 100 * verdict.coverage, verdict.tau,
                verdict.median_regret, verdict.worst_gain, name.c_str());
    SCOPED_TRACE(name);
    expect_within(verdict, {});
  }
}

INSTANTIATE_TEST_SUITE_P(Data, ModelValidation,
                         ::testing::Values("data/allreduce_h200x2.csv",
                                           "../bench/measurements/allreduce_h200x4.csv"));

}  // namespace
}  // namespace lanewise
