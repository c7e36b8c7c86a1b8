// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How measured times become a verdict: medians, bootstrap intervals of paired ratios and the
// decision against a limit. Pure and deterministic: the same samples give the same bits.
// Every function throws Error for no samples at all, or one that is not finite.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lanewise {

// A gain below 3 % is not worth a rule: a repeat of stock alone moves that much at the median.
inline constexpr double gain_limit = 1.03;
// "Never worse": stock over arm stays above this; 2 % is under what a run can tell apart.
inline constexpr double never_worse_limit = 0.98;
// With fewer, no interval of the order statistics holds the median in 95 of 100 cases: 1 - 2 / 2^n.
inline constexpr int fewest_samples = 6;

// Hyndman and Fan 1996, type 7: linear between the closest ranks. `percent` is 0 to 100, else
// Error.
[[nodiscard]] double percentile(std::span<const double> samples, double percent);
[[nodiscard]] double median(std::span<const double> samples);
// exp of the mean of logarithms; also throws for a sample that is not above zero.
[[nodiscard]] double geometric_mean(std::span<const double> samples);
// (90th - 10th percentile) / median: how noisy a series is, free of its outliers.
[[nodiscard]] double relative_spread(std::span<const double> samples);

// One arm against stock, round by round: stock_us[i] / arm_us[i], above 1 where the arm is faster.
// Ratios inside a round cancel what drifts between rounds (clocks, heat, neighbours). Throws where
// the counts differ or a time is not above zero.
[[nodiscard]] std::vector<double> paired_ratios(std::span<const double> stock_us,
                                                std::span<const double> arm_us);

// `low` and `high` are the ends of the 95 % interval of the median.
struct Estimate {
  double median = 0;
  double low = 0;
  double high = 0;
  int samples = 0;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

inline constexpr std::uint64_t bootstrap_seed = 0x1a2e;  // any fixed number: results repeat
// Percentile bootstrap (Efron 1979) with 2000 resamples: the ends move by less than a sample's rank
// from seed to seed. 0.2 ms for 40 samples.
[[nodiscard]] Estimate estimate_median(std::span<const double> samples,
                                       std::uint64_t seed = bootstrap_seed);

// better: the whole interval is above the limit; worse: the whole interval is below it.
enum class Verdict : std::uint8_t { undecided, better, worse };
[[nodiscard]] std::string_view name_of(Verdict verdict) noexcept;
// Undecided with fewer than fewest_samples, whatever they are.
[[nodiscard]] Verdict judge(const Estimate& ratio, double limit) noexcept;

// The same question where the unit is a communicator, not a round: two of the same settings differ
// by some per cent for their whole life, which more rounds do not average out. One median for each
// communicator; decided where Student's 95 % interval of their mean is on one side of the limit.
// Undecided with fewer than two.
[[nodiscard]] Verdict judge_across(std::span<const double> medians, double limit) noexcept;

}  // namespace lanewise
