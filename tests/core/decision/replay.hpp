// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Plays measured all-reduces back: what would each size have taken with the policy's choice.
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/decision/policy.hpp"
#include "model_builders.hpp"

namespace lanewise::testing {

// The goal at every size.
inline constexpr double least_ratio = 0.98;
// Of a stock time, as a share of it: beyond, its median is not known to 5 %.
inline constexpr double widest_interval = 0.20;
inline constexpr std::array model_shaped = {14336U, 28672U, 57344U, 114688U, 229376U};

// One communicator of the data: its measured times by size, for stock and for each choice.
struct Measurements {
  PolicyInputs inputs;
  std::map<std::size_t, double> stock_us;
  std::map<std::pair<std::size_t, std::string>, double> us;
  std::set<std::size_t> unsteady;  // sizes whose stock time says nothing of a regret
};

inline std::optional<Choice> choose(const Policy& policy, int ranks, std::size_t bytes) {
  CostArray costs = cost_array(bytes, host_memory_machine(ranks));
  const auto decision = policy.decide(all_reduce(bytes, ranks), view(costs));
  if (!decision) return std::nullopt;
  return decision->choice;
}

// Stock over choice; nullopt where that choice was not measured.
inline std::optional<double> gain_of(const Measurements& measurements, const Policy& policy,
                                     std::size_t bytes) {
  const auto choice = choose(policy, measurements.inputs.ranks, bytes);
  if (!choice) return 1;
  const auto found = measurements.us.find({bytes, to_string(*choice)});
  if (found == measurements.us.end()) return std::nullopt;
  return measurements.stock_us.at(bytes) / found->second;
}

inline double mean_gain(const Measurements& measurements) {
  const Policy policy(measurements.inputs);
  double sum = 0;
  for (const auto bytes : model_shaped)
    sum += std::log(gain_of(measurements, policy, bytes).value());
  return std::exp(sum / model_shaped.size());
}

inline std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  std::stringstream stream(line);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

inline std::optional<int> channels_in(const std::string& environment) {
  const std::string name = "NCCL_MIN_NCHANNELS=";
  const auto at = environment.find(name);
  if (at == std::string::npos) return std::nullopt;
  return std::stoi(environment.substr(at + name.size()));
}

// Communicators over host memory, by release, ranks and environment.
inline std::map<std::string, Measurements> read_measurements(const std::filesystem::path& path) {
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
    forced,
    low_us,
    high_us
  };
  std::map<std::string, Measurements> all;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto word = split(line);
    if (word.at(transport) != "SHM" || word.at(forced) == "channels") continue;
    auto& group = all[word[nccl] + ' ' + word[ranks] + " ranks " + word[env]];
    group.inputs = policy_inputs(std::stoi(word[ranks]), parse_nccl_release(word[nccl]).value());
    group.inputs.sharing = sharing_of(std::stoi(word[ranks]), std::stoi(word[gpus]));
    group.inputs.limits.min_channels = channels_in(word[env]);
    group.inputs.transport = Transport::host_memory;
    const std::size_t size = std::stoull(word[bytes]);
    if (word[forced] == "none") {
      group.stock_us[size] = std::stod(word[us]);
      if (word.size() > high_us && std::stod(word[high_us]) - std::stod(word[low_us]) >
                                       widest_interval * group.stock_us[size])
        group.unsteady.insert(size);
      continue;
    }
    const Choice choice{parse_algorithm(word[algorithm]).value(),
                        parse_protocol(word[protocol]).value(), std::stoi(word[channels])};
    group.us[{size, to_string(choice)}] = std::stod(word[us]);
  }
  return all;
}

}  // namespace lanewise::testing
