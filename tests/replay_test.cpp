// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Plays measured all-reduces back: what would each size have taken with the policy's choice.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "lanewise/composite_policy.hpp"
#include "measured_excerpt.hpp"
#include "model_builders.hpp"

namespace lanewise {
namespace {

using testing::all_reduce;
using testing::host_memory_machine;
using testing::policy_inputs;
using testing::view;

// The goals of the issue: geometric mean over the model-shaped sizes, and at every size.
constexpr double least_mean_gain = 1.4;
constexpr double least_ratio = 0.98;
constexpr std::array model_shaped = {14336U, 28672U, 57344U, 114688U, 229376U};

// One communicator of the data: its measured times by size, for stock and for each choice.
struct Measurements {
  PolicyInputs inputs;
  std::map<std::size_t, double> stock_us;
  std::map<std::pair<std::size_t, std::string>, double> us;
};

std::optional<Choice> choose(Policy& policy, int ranks, std::size_t bytes) {
  PriceTable prices = price_table(bytes, host_memory_machine(ranks));
  const auto decision = policy.decide(all_reduce(bytes, ranks), view(prices));
  if (!decision) return std::nullopt;
  return decision->choice;
}

// Stock over choice; nullopt where that choice was not measured.
std::optional<double> gain_of(const Measurements& measurements, Policy& policy, std::size_t bytes) {
  const auto choice = choose(policy, measurements.inputs.ranks, bytes);
  if (!choice) return 1;
  const auto found = measurements.us.find({bytes, to_string(*choice)});
  if (found == measurements.us.end()) return std::nullopt;
  return measurements.stock_us.at(bytes) / found->second;
}

double mean_gain(const Measurements& measurements) {
  CompositePolicy policy(measurements.inputs);
  double sum = 0;
  for (const auto bytes : model_shaped)
    sum += std::log(gain_of(measurements, policy, bytes).value());
  return std::exp(sum / model_shaped.size());
}

Measurements excerpt() {
  Measurements measurements;
  measurements.inputs = policy_inputs();
  for (const auto& stock : testing::measured_stock) measurements.stock_us[stock.bytes] = stock.us;
  for (const auto& call : testing::measured_calls)
    measurements.us[{call.bytes, to_string(call.choice)}] = call.us;
  return measurements;
}

TEST(Replay, ModelShapedSizesGainOnTheExcerpt) { EXPECT_GE(mean_gain(excerpt()), least_mean_gain); }

TEST(Replay, NoSizeOfTheExcerptIsSlowerThanStock) {
  const Measurements measurements = excerpt();
  CompositePolicy policy(measurements.inputs);
  for (const auto& [bytes, us] : measurements.stock_us) {
    const auto gain = gain_of(measurements, policy, bytes);
    ASSERT_TRUE(gain) << bytes;
    EXPECT_GE(*gain, least_ratio) << bytes;
  }
}

const std::filesystem::path& csv_path() {
  static const auto path = std::filesystem::path(LANEWISE_SHARED_DIR) / "data/allreduce_h200x2.csv";
  return path;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  std::stringstream stream(line);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::optional<int> channels_in(const std::string& environment) {
  const std::string name = "NCCL_MIN_NCHANNELS=";
  const auto at = environment.find(name);
  if (at == std::string::npos) return std::nullopt;
  return std::stoi(environment.substr(at + name.size()));
}

// Communicators over host memory, by release, ranks and environment.
std::map<std::string, Measurements> read_measurements() {
  enum Column {
    nccl,
    ranks,
    gpus,
    transport,
    env,
    bytes,
    algorithm,
    protocol,
    channels,
    us,
    forced
  };
  std::map<std::string, Measurements> all;
  std::ifstream file(csv_path());
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto word = split(line);
    if (word.at(transport) != "SHM" || word.at(forced) == "channels") continue;
    auto& group = all[word[nccl] + ' ' + word[ranks] + " ranks " + word[env]];
    group.inputs = policy_inputs(std::stoi(word[ranks]), parse_nccl_release(word[nccl]).value());
    group.inputs.limits.min_channels = channels_in(word[env]);
    const std::size_t size = std::stoull(word[bytes]);
    if (word[forced] == "none") {
      group.stock_us[size] = std::stod(word[us]);
      continue;
    }
    const Choice choice{parse_algorithm(word[algorithm]).value(),
                        parse_protocol(word[protocol]).value(), std::stoi(word[channels])};
    group.us[{size, to_string(choice)}] = std::stod(word[us]);
  }
  return all;
}

class MeasuredReplay : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(csv_path())) GTEST_SKIP() << "no " << csv_path();
    all_ = read_measurements();
  }
  std::map<std::string, Measurements> all_;
};

TEST_F(MeasuredReplay, ModelShapedSizesGainOnEightRanks) {
  const std::string eight = "2.30.7 8 ranks NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_P2P_DISABLE=1";
  for (const std::string environment :
       {"", " REPEAT=2", " NCCL_MIN_NCHANNELS=8", " NCCL_MIN_NCHANNELS=16"})
    EXPECT_GE(mean_gain(all_.at(eight + environment)), least_mean_gain) << environment;
}

TEST_F(MeasuredReplay, NoSizeOfAnyCommunicatorIsSlowerThanStock) {
  int measured = 0;
  for (const auto& [name, measurements] : all_) {
    CompositePolicy policy(measurements.inputs);
    for (const auto& [bytes, us] : measurements.stock_us) {
      const auto gain = gain_of(measurements, policy, bytes);
      if (!gain) continue;
      ++measured;
      EXPECT_GE(*gain, least_ratio) << name << ": " << bytes;
    }
  }
  // Only three choices of 32 channels were not measured.
  EXPECT_GE(measured, 100);
}

TEST_F(MeasuredReplay, PricesOfTheMachineGiveStocksPick) {
  for (const auto& [name, measurements] : all_) {
    const int ranks = measurements.inputs.ranks;
    for (const auto& [bytes, us] : measurements.stock_us) {
      PriceTable prices = price_table(bytes, host_memory_machine(ranks));
      const auto picked = measurements.us.at({bytes, to_string(view(prices).stock_pick().value())});
      EXPECT_NEAR(picked / us, 1, 0.12) << name << ": " << bytes;
    }
  }
}

}  // namespace
}  // namespace lanewise
