// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One size's measurement: arms are built and checked, then timed in rounds, each in random
// order with stock among them, and compared with stock inside their round. An arm in which ranks
// hang or die is out, and the others go on in fresh ranks.
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "compared_arm.hpp"
#include "program/app.hpp"

namespace lanewise::bench {

struct TimingOptions {
  int calls = 20;    // all-reduces in a sample: 20 hide the graph's own launch (some 5 us)
  int launches = 2;  // samples' length in graphs
  int fewest_rounds = 10;
  int most_rounds = 40;
  int budget_s = 0;  // 0: no limit but the rounds
  bool is_eager = false;
  std::uint64_t seed = 1;              // of data and order
  bool is_one_failure_enough = false;  // then nobody asks for the other arms, and they are out
};
// --calls, --rounds, --most-rounds, --budget, --eager, --seed.
void add_timing_options(CLI::App& command, TimingOptions& options);

// `us` in the order asked for; nothing for an arm that failed in this round, and no time of stock
// where that did.
struct RoundTimes {
  std::vector<double> stock_us;
  std::vector<std::optional<double>> us;
};

class SizeComparison {
 public:
  // The first arm is stock: it is timed even where its sums are wrong. Comparisons that live
  // at the same time in one rank_group need different `first_id`s, further apart than they have
  // arms.
  SizeComparison(std::size_t bytes, TimingOptions options, std::vector<ComparedArm> arms,
                 int first_id = 0);

  // As an engine's step: see Batch. Before prepare().
  void set_step(double gap_us, std::vector<std::size_t> trace);

  // Builds and checks those that are not out. Throws RankFailure, as all that follows, where ranks
  // fail outside of any arm or cannot be started afresh.
  void prepare();
  // Times stock twice and each of those still in once.
  void run_round();
  // Rounds until each arm is decided against `limit`, within the options' rounds and until
  // `deadline`; the fewest rounds are run in any case.
  void run(double limit, std::chrono::steady_clock::time_point deadline);
  // One round of stock, twice, and these arms, without keeping the times.
  [[nodiscard]] RoundTimes time_round(std::span<const std::size_t> who);
  // Checks an arm's sums again over `calls` calls with ever new data; wrong ones put it out.
  void soak(std::size_t index, int calls);
  // Takes over the samples of the same comparison held in other ranks.
  void absorb(const SizeComparison& other);
  // Frees the ranks' graphs; samples stay. drop: of one arm, which is then out; restore: has
  // it back, built and checked anew, unless NCCL refused it or a sum was wrong.
  void finish();
  void drop(std::size_t index);
  void restore(std::size_t index);

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] int rounds() const noexcept { return rounds_; }
  [[nodiscard]] std::span<ComparedArm> arms() noexcept { return arms_; }
  [[nodiscard]] std::span<const ComparedArm> arms() const noexcept { return arms_; }
  [[nodiscard]] bool has_wrong_sums() const;
  // Stock was refused or has failed: nothing can be compared at this size.
  [[nodiscard]] bool is_without_stock() const { return arms_.front().is_out; }
  void add_failures(Failures& failures) const;
  void leave_out(const Failures& failures);

 private:
  void prepare_in(RankGroup& rank_group, std::span<ComparedArm* const> some);
  void prepare_missing();
  void put_out(const RankFailure& failure);
  [[nodiscard]] std::vector<double> time_in_order(std::span<const std::size_t> order);
  [[nodiscard]] std::optional<RoundTimes> try_round(std::span<const std::size_t> who);
  [[nodiscard]] bool is_decided(double limit) const;

  std::size_t bytes_;
  TimingOptions options_;
  std::vector<ComparedArm> arms_;
  std::mt19937_64 random_;
  double gap_us_ = 0;
  std::vector<std::size_t> trace_;
  int rounds_ = 0;
};

}  // namespace lanewise::bench
