// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "search/candidates.hpp"
#include "search/halving.hpp"
#include "simulated_machine.hpp"
#include "support/test_files.hpp"

// Tunes against every recorded time of eight ranks over host memory, NCCL 2.30.7, as if they were
// read again with 3 % of noise.
namespace lanewise {
namespace {

constexpr const char* environment = "NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_P2P_DISABLE=1";
constexpr Communicator eight_recorded_ranks{8, 4, {2, 30, 7}, {}, GpuSharing::shared};

struct Recorded {
  double stock_us = 0;
  std::map<std::string, double> us;  // by to_string(Choice)
};

std::map<std::size_t, Recorded> read_recorded() {
  std::map<std::size_t, Recorded> sizes;
  std::ifstream file(testing::test_file("data/allreduce_h200x2.csv"));
  std::string line;
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (fields.size() != 11 || fields[0] != "2.30.7" || fields[1] != "8" || fields[3] != "SHM" ||
        fields[4] != environment)
      continue;
    Recorded& size = sizes[std::stoull(fields[5])];
    if (fields[10] == "none") size.stock_us = std::stod(fields[9]);
    const auto algorithm = parse_algorithm(fields[6]);
    const auto protocol = parse_protocol(fields[7]);
    const int channels = std::stoi(fields[8]);
    if (!algorithm || !protocol || channels < 1 || channels > eight_recorded_ranks.channels)
      continue;
    size.us[to_string(Choice{*algorithm, *protocol, channels})] = std::stod(fields[9]);
  }
  return sizes;
}

class RecordedTuning : public ::testing::Test {
 protected:
  void SetUp() override {
    sizes_ = read_recorded();
    ASSERT_FALSE(sizes_.empty());
  }

  [[nodiscard]] std::vector<CandidateSet> candidates() const {
    std::vector<CandidateSet> sets;
    for (const auto& [bytes, recorded] : sizes_) {
      std::vector<Choice> choices;
      for (const auto& [name, us] : recorded.us) choices.push_back(*parse_choice(name));
      sets.push_back({bytes, prune_by_model(choices, bytes, eight_recorded_ranks, 8)});
    }
    return sets;
  }

  [[nodiscard]] double us(std::size_t bytes, const std::optional<Choice>& choice) const {
    const Recorded& recorded = sizes_.at(bytes);
    return choice ? recorded.us.at(to_string(*choice)) : recorded.stock_us;
  }

  [[nodiscard]] std::vector<MeasuredSize> tune(double budget_seconds, unsigned seed) const {
    Halving halving(candidates(), budget_seconds);
    (void)run(halving, {.us = [this](auto bytes, const auto& choice) { return us(bytes, choice); },
                        .noise = 0.03,
                        .drift = 1e-4,
                        .reading_seconds = 0.004,
                        .seed = seed});
    return halving.results();
  }

  std::map<std::size_t, Recorded> sizes_;
};

TEST_F(RecordedTuning, IsWithinThreePercentOfTheBestAtEverySize) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto rules = build_rules(tune(60, seed), eight_recorded_ranks);
    for (const auto& [bytes, recorded] : sizes_) {
      double best = recorded.stock_us;
      for (const auto& [name, time] : recorded.us) best = std::min(best, time);
      const Rule* rule = rules.find(bytes);
      const double chosen = rule == nullptr ? recorded.stock_us : us(bytes, rule->choice);
      EXPECT_LE(chosen, best * gain_limit * 1.01) << bytes << " seed " << seed;
    }
  }
}

TEST_F(RecordedTuning, GainsWhatTheIssueAsksForAtModelShapedSizes) {
  const auto rules = build_rules(tune(60, 1), eight_recorded_ranks);
  std::vector<double> ratios;
  for (const std::size_t tokens : {1, 2, 4, 8, 16}) {
    const std::size_t bytes = tokens * 14336;
    const Rule* rule = rules.find(bytes);
    ratios.push_back(rule == nullptr ? 1 : us(bytes, std::nullopt) / us(bytes, rule->choice));
  }

  EXPECT_GE(geometric_mean(ratios), 1.55);
}

TEST_F(RecordedTuning, NoRuleIsSlowerThanStock) {
  const auto rules = build_rules(tune(60, 2), eight_recorded_ranks);
  for (const auto& rule : rules.rules()) {
    for (const auto& [bytes, recorded] : sizes_) {
      if (bytes < rule.bytes.low || bytes > rule.bytes.high) continue;
      EXPECT_GT(recorded.stock_us / us(bytes, rule.choice), 1.0) << bytes;
    }
  }
}

}  // namespace
}  // namespace lanewise
