// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr int resample_count = 2000;
constexpr double low_percent = 2.5;
constexpr double high_percent = 97.5;

std::vector<double> sort(std::span<const double> samples) {
  if (samples.empty()) throw Error("statistics: expected at least one sample");
  for (const double sample : samples)
    if (!std::isfinite(sample)) throw Error("statistics: expected finite samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double percentile_of_sorted(std::span<const double> sorted, double percent) {
  if (!(percent >= 0 && percent <= 100)) throw Error("percentile: expected 0 to 100");
  const double rank = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = rank - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

// SplitMix64 (Steele, Lea, Flood 2014): std's distributions differ between standard libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  // Uniform below `limit`, biased by less than limit / 2^32.
  std::size_t below(std::size_t limit) noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    mixed ^= mixed >> 31U;
    return static_cast<std::size_t>(((mixed >> 32U) * limit) >> 32U);
  }

 private:
  std::uint64_t state_;
};

// The median of a resample, from how often each rank was drawn: no sorting.
double median_of_counts(std::span<const double> sorted, std::span<const int> counts) {
  const auto total = static_cast<int>(sorted.size());
  const int lower_place = (total - 1) / 2;
  const int upper_place = total / 2;
  std::size_t rank = 0;
  int seen = counts[0];
  while (seen <= lower_place) seen += counts[++rank];
  const double lower = sorted[rank];
  while (seen <= upper_place) seen += counts[++rank];
  return (lower + sorted[rank]) / 2;
}

}  // namespace

double percentile(std::span<const double> samples, double percent) {
  return percentile_of_sorted(sort(samples), percent);
}

double median(std::span<const double> samples) { return percentile(samples, 50); }

double geometric_mean(std::span<const double> samples) {
  if (samples.empty()) throw Error("geometric mean: expected at least one sample");
  double sum = 0;
  for (const double sample : samples) {
    if (!(sample > 0) || !std::isfinite(sample))
      throw Error("geometric mean: expected finite samples above zero");
    sum += std::log(sample);
  }
  return std::exp(sum / static_cast<double>(samples.size()));
}

double relative_spread(std::span<const double> samples) {
  const auto sorted = sort(samples);
  const double width = percentile_of_sorted(sorted, 90) - percentile_of_sorted(sorted, 10);
  return width / percentile_of_sorted(sorted, 50);
}

std::vector<double> paired_ratios(std::span<const double> stock_us,
                                  std::span<const double> arm_us) {
  if (stock_us.size() != arm_us.size()) throw Error("paired ratios: expected equal rounds");
  std::vector<double> ratios;
  ratios.reserve(arm_us.size());
  for (std::size_t i = 0; i < arm_us.size(); ++i) {
    if (!(stock_us[i] > 0) || !(arm_us[i] > 0))
      throw Error("paired ratios: expected times above zero");
    ratios.push_back(stock_us[i] / arm_us[i]);
  }
  return ratios;
}

Estimate estimate_median(std::span<const double> samples, std::uint64_t seed) {
  const auto sorted = sort(samples);
  Random random(seed);
  std::vector<int> counts(sorted.size());
  std::vector<double> medians(resample_count);
  for (double& resampled : medians) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; i < sorted.size(); ++i) ++counts[random.below(sorted.size())];
    resampled = median_of_counts(sorted, counts);
  }
  std::sort(medians.begin(), medians.end());
  return {percentile_of_sorted(sorted, 50), percentile_of_sorted(medians, low_percent),
          percentile_of_sorted(medians, high_percent), static_cast<int>(sorted.size())};
}

std::string_view name_of(Verdict verdict) noexcept {
  constexpr std::array<std::string_view, 3> names = {"undecided", "better", "worse"};
  return names[static_cast<std::size_t>(verdict)];
}

Verdict judge(const Estimate& ratio, double limit) noexcept {
  if (ratio.samples < fewest_samples) return Verdict::undecided;
  if (ratio.low > limit) return Verdict::better;
  if (ratio.high < limit) return Verdict::worse;
  return Verdict::undecided;
}

Verdict judge_across(std::span<const double> medians, double limit) noexcept {
  // Two-sided 95 % quantiles of Student's t for 1, 2, .. degrees of freedom; 1.96 is the normal's.
  constexpr std::array quantiles = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};
  if (medians.size() < 2) return Verdict::undecided;
  const auto count = static_cast<double>(medians.size());
  double mean = 0;
  for (const double value : medians) mean += value / count;
  double variance = 0;
  for (const double value : medians) variance += (value - mean) * (value - mean) / (count - 1);
  const std::size_t freedom = medians.size() - 1;
  const double quantile = freedom <= quantiles.size() ? quantiles[freedom - 1] : 1.96;
  const double half = quantile * std::sqrt(variance / count);
  if (mean - half > limit) return Verdict::better;
  if (mean + half < limit) return Verdict::worse;
  return Verdict::undecided;
}

}  // namespace lanewise
