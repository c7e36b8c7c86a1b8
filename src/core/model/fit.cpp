// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr std::size_t term_count = std::tuple_size_v<TermFactors>;
using Terms = std::vector<std::size_t>;

// Positions in LatencyTerms: what a series does not have stays zero. Tree/LL needs the fill of the
// FIFO only where every rank has a GPU.
Terms terms_in_use(const MeasuredTime& one) {
  const bool is_ll = one.choice.protocol == Protocol::ll;
  if (one.choice.algorithm == Algorithm::ring)
    return is_ll ? Terms{0, 1, 2, 3, 6} : Terms{0, 1, 3, 5, 6};
  if (is_ll && one.communicator.sharing == GpuSharing::shared) return {0, 1, 3, 6};
  return {0, 1, 3, 4, 6};
}

// One row of the equations for each time: factors over the time, so that errors are relative.
std::vector<TermFactors> rows_of(std::span<const MeasuredTime> times) {
  std::vector<TermFactors> rows;
  for (const auto& time : times) {
    const Launch launch = launch_of(time.choice, time.bytes, time.communicator);
    TermFactors row = term_factors(time.choice, time.bytes, time.communicator.ranks, launch);
    for (double& factor : row) factor /= time.us;
    rows.push_back(row);
  }
  return rows;
}

struct Solution {
  std::vector<double> values;
  std::optional<std::size_t> vague;  // one that the equations do not tell from those before it
};

// Gauss with pivoting. The last column is the right side.
Solution solve(std::vector<std::vector<double>> lines) {
  constexpr double least_pivot = 1e-9;
  const std::size_t count = lines.size();
  Solution solution;
  for (std::size_t i = 0; i < count; ++i) {
    const auto pivot = std::max_element(
        lines.begin() + static_cast<std::ptrdiff_t>(i), lines.end(),
        [i](const auto& a, const auto& b) { return std::abs(a[i]) < std::abs(b[i]); });
    if (std::abs((*pivot)[i]) < least_pivot) {
      solution.vague = i;
      return solution;
    }
    std::swap(lines[i], *pivot);
    for (std::size_t k = 0; k < count; ++k) {
      if (k == i) continue;
      const double factor = lines[k][i] / lines[i][i];
      for (std::size_t c = i; c <= count; ++c) lines[k][c] -= factor * lines[i][c];
    }
  }
  for (std::size_t i = 0; i < count; ++i) solution.values.push_back(lines[i][count] / lines[i][i]);
  return solution;
}

// The normal equations of these terms.
std::vector<std::vector<double>> equations(const std::vector<TermFactors>& rows,
                                           const Terms& terms) {
  std::vector<std::vector<double>> lines(terms.size(), std::vector<double>(terms.size() + 1));
  for (const auto& row : rows)
    for (std::size_t a = 0; a < terms.size(); ++a) {
      for (std::size_t b = 0; b < terms.size(); ++b) lines[a][b] += row[terms[a]] * row[terms[b]];
      lines[a].back() += row[terms[a]];
    }
  return lines;
}

LatencyTerms terms_from(const Terms& terms, const std::vector<double>& values) {
  std::array<double, term_count> all{};
  for (std::size_t i = 0; i < terms.size(); ++i) all[terms[i]] = values[i];
  return {all[0], all[1], all[2], all[3], all[4], all[5], all[6]};
}

}  // namespace

std::optional<LatencyTerms> fit_terms(std::span<const MeasuredTime> times) {
  if (times.empty()) return std::nullopt;
  Terms terms = terms_in_use(times.front());
  if (times.size() < terms.size()) return std::nullopt;
  const auto rows = rows_of(times);
  while (!terms.empty()) {
    const auto [values, vague] = solve(equations(rows, terms));
    if (vague) {
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(*vague));
      continue;
    }
    const auto lowest = std::min_element(values.begin(), values.end());
    if (*lowest >= 0) return terms_from(terms, values);
    terms.erase(terms.begin() + (lowest - values.begin()));
  }
  return std::nullopt;
}

MachineFit fit_machine(std::span<const MeasuredTime> times) {
  if (times.empty()) throw Error("expected times to fit the model to");
  const Communicator& communicator = times.front().communicator;
  MachineFit fit{.channels = communicator.channels, .smallest_bytes = times.front().bytes};
  for (const auto& time : times) {
    fit.smallest_bytes = std::min(fit.smallest_bytes, time.bytes);
    fit.largest_bytes = std::max(fit.largest_bytes, time.bytes);
  }
  LatencyConstants& constants = fit.constants;
  // Two ranks have none between them that Tree could slow.
  constants.largest_tree_bytes = communicator.ranks == 2
                                     ? fit.largest_bytes
                                     : measured_constants(communicator.sharing).largest_tree_bytes;
  const auto fit_series = [&](Algorithm algorithm, Protocol protocol) {
    std::vector<MeasuredTime> series;
    for (const auto& time : times)
      if (time.choice.algorithm == algorithm && time.choice.protocol == protocol &&
          (algorithm != Algorithm::tree || time.bytes <= constants.largest_tree_bytes))
        series.push_back(time);
    if (const auto terms = fit_terms(series)) return *terms;
    throw Error("expected at least five times of " + to_string({algorithm, protocol, 0}) +
                ", found " + std::to_string(series.size()));
  };
  constants.tree_ll = fit_series(Algorithm::tree, Protocol::ll);
  constants.tree_simple = fit_series(Algorithm::tree, Protocol::simple);
  constants.ring_ll = fit_series(Algorithm::ring, Protocol::ll);
  constants.ring_simple = fit_series(Algorithm::ring, Protocol::simple);
  return fit;
}

}  // namespace lanewise
