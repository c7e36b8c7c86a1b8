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
#include "core/nccl/cost_model.hpp"
#include "model_builders.hpp"
#include "support/test_files.hpp"

// What NCCL launched on one H200, ranks as threads (bench/jobs/nccl_launches.py wrote it), and what
// it planned on machines of four topology files without peer access (bench/jobs/stock_choices.py).
namespace lanewise {
namespace {

struct Record {
  Communicator communicator;
  std::size_t bytes = 0;
  std::optional<Choice> asked;  // nullopt: nobody asked
  Choice launched;
  int threads = 0;
  SearchedGraph ring;  // of those that were planned

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

using Row = std::map<std::string, std::string>;

Row parse_row(const std::vector<std::string>& names, const std::string& line) {
  Row row;
  std::istringstream stream(line);
  for (const auto& name : names) std::getline(stream, row[name], ',');
  return row;
}

Record make_record(const Row& row) {
  Record record;
  record.communicator = {std::stoi(row.at("ranks")), std::stoi(row.at("communicator_channels")),
                         parse_nccl_release(row.at("nccl")).value(),
                         parse_thresholds(row.at("thresholds")), GpuSharing::shared};
  record.bytes = std::stoull(row.at("bytes"));
  record.asked = parse_asked(row.at("asked"));
  record.launched = {parse_algorithm(row.at("algorithm")).value(),
                     parse_protocol(row.at("protocol")).value(), std::stoi(row.at("channels"))};
  record.threads = std::stoi(row.at("threads"));
  if (row.contains("machine")) {
    // NCCL prices and doubles the fewer channels of ring and tree.
    record.ring = {record.communicator.channels / 2, std::stod(row.at("ring_gbs"))};
    record.communicator.sharing = GpuSharing::one_rank_a_gpu;
    record.communicator.ring_gbs = record.ring.channels * record.ring.channel_bandwidth;
  }
  return record;
}

std::vector<Record> read_records(const std::string& name) {
  std::vector<Record> records;
  std::ifstream file(testing::test_file("data/" + name));
  std::string line;
  std::getline(file, line);
  std::vector<std::string> names;
  std::istringstream head(line);
  for (std::string word; std::getline(head, word, ',');) names.push_back(word);
  while (std::getline(file, line)) records.push_back(make_record(parse_row(names, line)));
  return records;
}

std::vector<Record> read_launches() { return read_records("nccl_launches.csv"); }
std::vector<Record> read_choices() { return read_records("nccl_choices.csv"); }

std::vector<Record> read_all() {
  auto records = read_launches();
  for (auto& record : read_choices()) records.push_back(std::move(record));
  return records;
}

// 2.21.5 starts blocks of three warps, 2.24.3 and later ones none of fewer than four.
int least_block(const Record& record) {
  return record.communicator.release < NcclRelease{2, 22, 0} ? 96 : 128;
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
  for (const Record& record : read_all())
    if (!record.asked && record.is_in_stocks_environment())
      sizes[to_string(record.communicator.release)][record.communicator.ranks].insert(record.bytes);

  for (const char* release :
       {"2.21.5", "2.24.3", "2.25.1", "2.26.2", "2.29.7", "2.30.7", "2.31.2", "2.32.3"})
    for (const int ranks : {4, 8}) EXPECT_GE(sizes[release][ranks].size(), 20U) << release;
}

TEST(RecordedLaunches, AreWhatTheModelSays) {
  for (const Record& record : read_all()) {
    const Choice& launched = record.launched;
    if (!is_modelled(launched.algorithm, launched.protocol)) continue;
    const Choice asked = record.asked.value_or(Choice{launched.algorithm, launched.protocol, 0});
    const Launch launch = launch_of(asked, record.bytes, record.communicator);

    EXPECT_EQ(launch.channels, launched.channels) << describe(record);
    EXPECT_EQ(std::max(launch.threads, least_block(record)), record.threads) << describe(record);
  }
}

TEST(RecordedLaunches, AreWhatExplainSaysOfNcclsOwnChoice) {
  for (const Record& record : read_launches()) {
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

// With the prices of what its search found, on machines that are priced as PCIe.
TEST(RecordedChoices, AreWhatExplainSays) {
  for (const Record& record : read_choices()) {
    if (!record.is_in_stocks_environment()) continue;
    CostModelInputs priced;
    priced.ranks = record.communicator.ranks;
    priced.release = record.communicator.release;
    priced.ring = priced.tree = record.ring;
    CostArray costs = cost_array(record.bytes, priced);
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
