// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// The model against times that people published of machines that we never had: the order of sizes
// and arms of each machine, and where LL and Simple cross. Prints what it gets wrong. What a source
// does not tell of release, rings and channels is as NCCL's search finds it on such a machine
// (tests/data/stock_tables).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "core/decision/replay.hpp"
#include "core/model/latency.hpp"
#include "support/test_files.hpp"

namespace lanewise {
namespace {

constexpr double noise = 0.05;  // two times nearer than this have no order
constexpr double least_tau = 0.8;
constexpr double most_off = 1.5;  // of a crossover

struct Point {
  Choice choice;
  std::size_t bytes = 0;
  double us = 0;
  double predicted_us = 0;
};

// One arm of one machine.
struct Run {
  CostModelInputs costs;
  Communicator communicator;
  MachineModel machine;
  std::vector<Point> points;

  [[nodiscard]] double predicted_us(const Choice& choice, std::size_t bytes) const {
    return predict(choice, bytes, communicator, machine).total_us();
  }
};

// "stock" is what NCCL's own costs pick on that machine.
std::optional<Choice> choice_of(const std::string& arm, std::size_t bytes, const Run& run) {
  if (arm != "stock") return parse_choice(arm);
  CostArray costs = cost_array(bytes, run.costs);
  return testing::view(costs).stock_pick();
}

Run read_run(const std::vector<std::string>& word) {
  enum Column { name, ranks, capability, way, rate, release, rings, ring_rate, channels, arm, us };
  Run run;
  run.costs.ranks = std::stoi(word[ranks]);
  run.costs.compute_capability = std::stoi(word[capability]);
  run.costs.release = parse_nccl_release(word[release]).value();
  run.costs.ring = run.costs.tree = {std::stoi(word[rings]), std::stod(word[ring_rate])};
  run.communicator = {run.costs.ranks, std::stoi(word[channels]), run.costs.release, {}};
  const double link = std::stod(word[rate]);
  const auto transport = word[way] == "peer" ? Transport::peer : Transport::host_memory;
  run.machine = PlausibleMachines({link, link}, transport, {}).machines().front();
  std::stringstream times(word[us]);
  for (std::string time; times >> time;) {
    const std::size_t bytes = std::stoull(time);
    const auto choice = choice_of(word[arm], bytes, run);
    if (!choice || !is_modelled(choice->algorithm, choice->protocol)) continue;
    run.points.push_back({*choice, bytes, std::stod(time.substr(time.find(':') + 1)),
                          run.predicted_us(*choice, bytes)});
  }
  return run;
}

const std::map<std::string, std::vector<Run>>& machines() {
  static const auto all = [] {
    std::map<std::string, std::vector<Run>> runs;
    std::ifstream file(testing::test_file("data/published_times.csv"));
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      const auto word = testing::split(line);
      runs[word.at(0)].push_back(read_run(word));
    }
    return runs;
  }();
  return all;
}

void print_wrong(const std::string& machine, const Point& one, const Point& other) {
  std::printf("  wrong: %s: %s %zu: %.1f us, %s %zu: %.1f; predicted %.1f and %.1f\n",
              machine.c_str(), to_string(one.choice).c_str(), one.bytes, one.us,
              to_string(other.choice).c_str(), other.bytes, other.us, one.predicted_us,
              other.predicted_us);
}

// `all`: pairs whose order was published; `same_size`: those of two choices for one size, where the
// order is not the sizes'.
struct Order {
  int all = 0;
  int right = 0;
  int same_size = 0;
  int right_of_same_size = 0;
  [[nodiscard]] double tau() const { return (2.0 * right - all) / all; }  // Kendall's
};

Order order_of(const std::string& machine, const std::vector<Point>& points) {
  Order order;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const Point& one = points[k];
      const Point& other = points[i];
      if (std::abs(std::log(one.us / other.us)) < noise) continue;
      const bool is_right = (one.us < other.us) == (one.predicted_us < other.predicted_us);
      const bool is_same_size = one.bytes == other.bytes && !(one.choice == other.choice);
      ++order.all;
      order.right += is_right ? 1 : 0;
      order.same_size += is_same_size ? 1 : 0;
      order.right_of_same_size += is_same_size && is_right ? 1 : 0;
      if (!is_right) print_wrong(machine, one, other);
    }
  return order;
}

TEST(PublishedTimes, ComeInTheOrderThatTheModelPredicts) {
  for (const auto& [name, runs] : machines()) {
    std::vector<Point> points;
    for (const auto& run : runs) points.insert(points.end(), run.points.begin(), run.points.end());
    const Order order = order_of(name, points);
    const auto [low, high] = std::ranges::minmax(
        points, {}, [](const Point& point) { return point.predicted_us / point.us; });
    std::printf("%-26s tau %.2f of %d pairs, %d of %d at one size; predicted %.2f to %.2f of it\n",
                name.c_str(), order.tau(), order.all, order.right_of_same_size, order.same_size,
                low.predicted_us / low.us, high.predicted_us / high.us);
    EXPECT_GE(order.tau(), least_tau) << name;
  }
}

// Of LL over Simple by size, in order: where it passes 1, between two sizes; none where it does
// not.
std::optional<double> crossover_of(const std::map<std::size_t, double>& ratios) {
  for (auto next = ratios.begin(), one = next++; next != ratios.end(); one = next++) {
    const double before = std::log(one->second);
    const double after = std::log(next->second);
    if (before < 0 && after >= 0)
      return static_cast<double>(one->first) *
             std::pow(static_cast<double>(next->first) / static_cast<double>(one->first),
                      before / (before - after));
  }
  return std::nullopt;
}

std::map<std::size_t, double> published_ratios(const Run& ll, const Run& simple) {
  std::map<std::size_t, double> ratios;
  for (const auto& one : ll.points)
    for (const auto& other : simple.points)
      if (one.bytes == other.bytes && one.choice.protocol == Protocol::ll &&
          other.choice.protocol == Protocol::simple)
        ratios[one.bytes] = one.us / other.us;
  return ratios;
}

double predicted_crossover(const Run& ll, const Run& simple) {
  std::map<std::size_t, double> ratios;
  for (std::size_t bytes = 4096; bytes <= 64U << 20; bytes += bytes / 8)
    ratios[bytes] = ll.predicted_us({Algorithm::ring, Protocol::ll, 0}, bytes) /
                    simple.predicted_us({Algorithm::ring, Protocol::simple, 0}, bytes);
  return crossover_of(ratios).value();
}

TEST(PublishedTimes, CrossWhereTheModelPredicts) {
  int crossovers = 0;
  for (const auto& [name, runs] : machines())
    for (const auto& ll : runs)
      for (const auto& simple : runs) {
        const auto ratios = published_ratios(ll, simple);
        if (ratios.empty()) continue;
        ++crossovers;
        const double predicted = predicted_crossover(ll, simple);
        const auto published = crossover_of(ratios);
        std::printf("%-26s LL and Simple cross at %.0f KiB, published %s%.0f KiB\n", name.c_str(),
                    predicted / 1024, published ? "" : "above ",
                    published.value_or(static_cast<double>(ratios.rbegin()->first)) / 1024);
        EXPECT_GE(predicted * most_off, published.value_or(ratios.rbegin()->first)) << name;
        EXPECT_LE(predicted, published.value_or(predicted) * most_off) << name;
      }
  EXPECT_EQ(crossovers, 2);
}

}  // namespace
}  // namespace lanewise
