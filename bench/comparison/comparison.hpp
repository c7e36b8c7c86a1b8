// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One size's measurement: arms are built and checked, then timed in rounds, each in random
// order with stock among them, and compared with stock inside their round.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "arms.hpp"
#include "candidate.hpp"
#include "core/statistics.hpp"

namespace lanewise::bench {

struct TimingOptions {
  int calls = 20;    // all-reduces in a sample: 20 hide the graph's own launch (some 5 us)
  int launches = 2;  // samples' length in graphs
  int fewest_rounds = 10;
  int most_rounds = 40;
  int budget_s = 0;  // 0: no limit but the rounds
  bool is_eager = false;
  std::uint64_t seed = 1;  // of data and order
};
// --calls, --rounds, --most-rounds, --budget, --eager, --seed.
void add_timing_options(CLI::App& command, TimingOptions& options);

struct ComparedArm {
  RankGroup* rank_group = nullptr;
  Candidate candidate;
  Verification verification;
  bool is_out = false;         // wrong sums or not available: no longer timed
  std::vector<double> us;      // one a round
  std::vector<double> ratios;  // stock over this one, one a round
  // Medians of the ratios in other communicators whose comparisons were absorbed.
  std::vector<double> medians_elsewhere;
  std::size_t rounds_here = 0;  // of `ratios`, those of this comparison's own communicator

  // Nothing for a compared that was never timed.
  [[nodiscard]] std::optional<Estimate> time() const;
  [[nodiscard]] std::optional<Estimate> ratio() const;
  // better: above gain_limit for sure; worse: below never_worse_limit for sure.
  [[nodiscard]] Verdict verdict() const;
};

// One compared for each arm.
[[nodiscard]] std::vector<ComparedArm> arms_at(std::size_t bytes, const ArmSet& arm_set);

// `us` in the order asked for.
struct RoundTimes {
  std::vector<double> stock_us;
  std::vector<double> us;
};

class SizeComparison {
 public:
  // The first compared is stock: it is timed even where its sums are wrong. Comparisons that live
  // at the same time in one rank_group need different `first_id`s, further apart than they have
  // arms.
  SizeComparison(std::size_t bytes, TimingOptions options, std::vector<ComparedArm> arms,
                 int first_id = 0);

  // As an engine's step: see Batch. Before prepare().
  void set_step(double gap_us, std::vector<std::size_t> trace);

  // Builds and checks all of them. Throws RankFailure.
  void prepare();
  // Times stock twice and each of those still in once.
  void run_round();
  // Rounds until each compared is decided against `limit`, within the options' rounds and until
  // `deadline`; the fewest rounds are run in any case.
  void run(double limit, std::chrono::steady_clock::time_point deadline);
  // One round of stock, twice, and these arms, without keeping the times.
  [[nodiscard]] RoundTimes time_round(std::span<const std::size_t> who);
  // Checks a compared's sums again over `calls` calls with ever new data; wrong ones put it out.
  void soak(std::size_t index, int calls);
  // Takes over the samples of the same comparison held in other ranks.
  void absorb(const SizeComparison& other);
  // Frees the ranks' graphs; samples stay. drop: of one compared, which is then out; restore: has
  // it back, built and checked anew, unless NCCL refused it or a sum was wrong.
  void finish();
  void drop(std::size_t index);
  void restore(std::size_t index);

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] int rounds() const noexcept { return rounds_; }
  [[nodiscard]] std::span<ComparedArm> arms() noexcept { return arms_; }
  [[nodiscard]] std::span<const ComparedArm> arms() const noexcept { return arms_; }
  [[nodiscard]] bool has_wrong_sums() const;

 private:
  void prepare_in(RankGroup& rank_group, std::span<ComparedArm* const> some);
  [[nodiscard]] std::vector<double> time_in_order(std::span<const std::size_t> order);
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
