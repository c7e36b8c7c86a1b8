// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// How far the model is from what was measured, printed for each communicator of the data and each
// half of its sizes: fitted on the other half, as is the policy whose picks are judged. Fails where
// it gets worse than its limits allow.
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

using testing::Measurements;

constexpr int channels_of_data = 4;  // two rings found, doubled, where no variable says more
constexpr double small_regret = 1.05;

struct Limits {
  double median_error = 0.10;
  double error_of_90_percent = 0.25;
  double coverage = 0.90;
  double rank_correlation = 0.90;
  double sizes_of_small_regret = 0.95;
  double worst_gain = 0.98;
};

// The times of one half of the sizes, of what the model knows.
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
    if (static_cast<std::size_t>(index) % 2 == parity &&
        is_modelled(choice.algorithm, choice.protocol))
      times.push_back({choice, key.first, communicator, us});
  }
  return times;
}

double predicted(const MeasuredTime& time, const LatencyConstants& constants) {
  const Launch launch = launch_of(time.choice, time.bytes, time.communicator);
  return predict(terms_of(time.choice, constants), time.choice, time.bytes, time.communicator.ranks,
                 launch, fitted_machine)
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

template <typename Predicate>
double share_of(const std::vector<double>& values, Predicate is_counted) {
  return static_cast<double>(std::ranges::count_if(values, is_counted)) /
         static_cast<double>(values.size());
}

struct Verdict {
  double median_error, error_of_90_percent, coverage, tau;
  std::vector<double> regrets;
  double worst_gain;
};

Verdict judge(const Measurements& measurements, std::size_t judged) {
  PolicyInputs inputs = measurements.inputs;
  inputs.fit = fit_machine(half_of(measurements, 1 - judged));
  const auto& constants = inputs.fit->constants;
  auto times = half_of(measurements, judged);
  std::erase_if(times, [&](const MeasuredTime& time) {
    return time.choice.algorithm == Algorithm::tree && time.bytes > constants.largest_tree_bytes;
  });
  std::vector<double> us;
  std::vector<double> errors;
  for (const auto& time : times) {
    us.push_back(predicted(time, constants));
    errors.push_back(std::abs(us.back() / time.us - 1));
  }
  const Policy policy(inputs);
  std::vector<double> regrets;
  double worst = 10;
  std::size_t index = 0;
  for (const auto& [bytes, stock_us] : measurements.stock_us) {
    if (index++ % 2 != judged) continue;
    const auto gain = testing::gain_of(measurements, policy, bytes);
    if (!gain) continue;
    double best = stock_us;
    for (const auto& [key, measured] : measurements.us)
      if (key.first == bytes) best = std::min(best, measured);
    if (!measurements.unsteady.contains(bytes)) regrets.push_back(stock_us / *gain / best);
    worst = std::min(worst, *gain);
  }
  return {quantile(errors, 0.5),
          quantile(errors, 0.9),
          share_of(errors, [](double error) { return error <= fit_error; }),
          rank_correlation(times, us),
          std::move(regrets),
          worst};
}

void expect_within(const Verdict& verdict, const Limits& limits) {
  EXPECT_LE(verdict.median_error, limits.median_error);
  EXPECT_LE(verdict.error_of_90_percent, limits.error_of_90_percent);
  EXPECT_GE(verdict.coverage, limits.coverage);
  EXPECT_GE(verdict.tau, limits.rank_correlation);
  EXPECT_GE(verdict.worst_gain, limits.worst_gain);
}

class ModelValidation : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelValidation, HoldsOnTheSizesThatItWasNotFittedTo) {
  const auto all = testing::read_measurements(testing::test_file(GetParam()));
  std::array<std::vector<double>, 2> regrets;
  std::printf("%7s %5s %8s %6s %7s %7s  data\n", "median", "90 %", "covered", "tau", "regret",
              "worst");
  for (const auto& [name, measurements] : all)
    for (const std::size_t judged : {0U, 1U}) {
      const Verdict verdict = judge(measurements, judged);
      std::printf("%6.1f%% %4.0f%% %7.0f%% %6.2f %7.2f %7.2f  %s\n", 100 * verdict.median_error,
                  100 * verdict.error_of_90_percent, 100 * verdict.coverage, verdict.tau,
                  quantile(verdict.regrets, 1), verdict.worst_gain, name.c_str());
      SCOPED_TRACE(name);
      expect_within(verdict, {});
      regrets[judged].insert(regrets[judged].end(), verdict.regrets.begin(), verdict.regrets.end());
    }
  const auto is_small = [](double regret) { return regret <= small_regret; };
  std::printf("regret at most 5 %% at %.1f %% of every second size, %.1f %% of those between\n",
              100 * share_of(regrets[0], is_small), 100 * share_of(regrets[1], is_small));
  regrets[0].insert(regrets[0].end(), regrets[1].begin(), regrets[1].end());
  EXPECT_GE(share_of(regrets[0], is_small), Limits{}.sizes_of_small_regret);
}

INSTANTIATE_TEST_SUITE_P(Data, ModelValidation,
                         ::testing::Values("data/allreduce_h200x2.csv",
                                           "../bench/measurements/allreduce_h200x4.csv"));

}  // namespace
}  // namespace lanewise
