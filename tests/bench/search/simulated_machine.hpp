// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Runs a Halving against made-up or recorded times with noise and drift. For tests alone.
#include <cstddef>
#include <functional>
#include <optional>
#include <random>

#include "search/halving.hpp"

namespace lanewise {

struct SimulatedMachine {
  // Microseconds of a choice at a size; of stock for nullopt.
  std::function<double(std::size_t bytes, const std::optional<Choice>& choice)> us;
  double noise = 0.03;  // standard deviation of one reading, of 1
  double drift = 0;     // how much slower everything is after each round, of 1
  double reading_seconds = 0.002;
  unsigned seed = 1;
};

// Measures until the plan ends; returns the rounds that were needed.
inline int run(Halving& halving, const SimulatedMachine& machine) {
  std::mt19937 engine(machine.seed);
  std::normal_distribution<double> noise(1.0, machine.noise);
  double slowness = 1;
  int rounds = 0;
  while (const auto plan = halving.next()) {
    const auto read = [&](const std::optional<Choice>& choice) {
      return machine.us(plan->bytes, choice) * slowness * std::max(noise(engine), 0.5);
    };
    RoundResult result;
    result.stock_us = {read(std::nullopt), read(std::nullopt)};
    for (const Choice& choice : plan->choices) result.us.push_back(read(choice));
    result.seconds = machine.reading_seconds * static_cast<double>(2 + result.us.size());
    halving.record(*plan, result);
    slowness *= 1 + machine.drift;
    ++rounds;
  }
  return rounds;
}

}  // namespace lanewise
