// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/decision/explanation.hpp"
#include "core/model/waves.hpp"
#include "model_builders.hpp"
#include "support/test_files.hpp"

// What NCCL launched on one H200, ranks as threads: bench/jobs/nccl_launches.py wrote it.
namespace lanewise {
namespace {

// NCCL starts no smaller block.
constexpr int least_block = 128;

struct Record {
  Communicator communicator;
  std::size_t bytes = 0;
  std::optional<Choice> asked;  // nullopt: nobody asked
  Choice launched;
  int threads = 0;

  [[nodiscard]] bool is_in_stocks_environment() const {
    return communicator.limits == NcclLimits{};
  }
};

std::optional<Choice> parse_asked(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto first = text.find('/');
  const auto second = text.find('/', first + 1);
  return Choice{parse_algorithm(text.substr(0, first)).value(),
                parse_protocol(text.substr(first + 1, second - first - 1)).value(),
                std::stoi(text.substr(second + 1))};
}

NcclLimits parse_thresholds(const std::string& text) {
  NcclLimits limits;
  std::istringstream stream(text);
  for (auto& row : limits.thread_thresholds)
    for (auto& threshold : row)
      if (long long value = 0; stream >> value && value >= 0) threshold = value;
  return limits;
}

Record parse_record(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  Record record;
  record.communicator = {std::stoi(words.at(1)), std::stoi(words.at(2)),
                         parse_nccl_release(words.at(0)).value(), parse_thresholds(words.at(3)),
                         GpuSharing::shared};
  record.bytes = std::stoull(words.at(4));
  record.asked = parse_asked(words.at(5));
  record.launched = {parse_algorithm(words.at(6)).value(), parse_protocol(words.at(7)).value(),
                     std::stoi(words.at(8))};
  record.threads = std::stoi(words.at(9));
  return record;
}

std::vector<Record> read_records() {
  std::vector<Record> records;
  std::ifstream file(testing::test_file("data/nccl_launches.csv"));
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) records.push_back(parse_record(line));
  return records;
}

std::string describe(const Record& record) {
  return to_string(record.communicator.release) + ", " + std::to_string(record.communicator.ranks) +
         " ranks, " + std::to_string(record.bytes) + " bytes, asked for " +
         (record.asked ? to_string(*record.asked) : "nothing") +
         (record.is_in_stocks_environment() ? "" : ", base environment");
}

// Only this entry is worth taking: which one NCCL prefers is in its costs, not in these rules.
CostArray costs_for(const Choice& pick) {
  CostArray costs;
  costs.fill(100.0F);
  costs[static_cast<std::size_t>(pick.algorithm) * protocol_count +
        static_cast<std::size_t>(pick.protocol)] = 1.0F;
  return costs;
}

TEST(RecordedLaunches, CoverReleasesRanksAndSizes) {
  std::map<std::string, std::map<int, std::set<std::size_t>>> sizes;
  for (const Record& record : read_records())
    if (!record.asked && record.is_in_stocks_environment())
      sizes[to_string(record.communicator.release)][record.communicator.ranks].insert(record.bytes);

  for (const char* release : {"2.30.7", "2.31.2", "2.32.3"})
    for (const int ranks : {4, 8}) EXPECT_GE(sizes[release][ranks].size(), 20U) << release;
}

TEST(RecordedLaunches, AreWhatTheModelSays) {
  for (const Record& record : read_records()) {
    const Choice& launched = record.launched;
    if (!is_modelled(launched.algorithm, launched.protocol)) continue;
    const Choice asked = record.asked.value_or(Choice{launched.algorithm, launched.protocol, 0});
    const Launch launch = launch_of(asked, record.bytes, record.communicator);

    EXPECT_EQ(launch.channels, launched.channels) << describe(record);
    EXPECT_EQ(std::max(launch.threads, least_block), record.threads) << describe(record);
  }
}

TEST(RecordedLaunches, AreWhatExplainSaysOfNcclsOwnChoice) {
  for (const Record& record : read_records()) {
    if (record.asked || !record.is_in_stocks_environment()) continue;
    if (!is_modelled(record.launched.algorithm, record.launched.protocol)) continue;
    CostArray costs = costs_for(record.launched);
    const auto explanation =
        explain(testing::policy_inputs(record.communicator.ranks, record.communicator.release),
                testing::all_reduce(record.bytes, record.communicator.ranks), testing::view(costs),
                record.communicator);

    ASSERT_TRUE(explanation.stock) << describe(record);
    EXPECT_EQ(explanation.stock->choice, record.launched) << describe(record);
  }
}

}  // namespace
}  // namespace lanewise
