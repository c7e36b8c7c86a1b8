// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/nccl/cost_model.hpp"
#include "host/machine/topology_source.hpp"
#include "support/test_files.hpp"

// What the graph search of real libraries found on machines of ours, without peer access:
// bench/jobs/stock_choices.py.
namespace lanewise {
namespace {

constexpr int compute_capability = 120;

Topology first_gpus(const std::string& machine, std::size_t ranks) {
  auto topology = host::read_topology(testing::test_file("data/machines/" + machine));
  topology.gpus.resize(ranks);
  return topology;
}

TEST(RecordedSearch, IsEstimatedFromTheTopologyAndTheRelease) {
  std::ifstream file(testing::test_file("data/nccl_choices.csv"));
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line.substr(0, 41), "machine,ring_channels,ring_gbs,nccl,ranks");
  int seen = 0;
  while (std::getline(file, line)) {
    std::istringstream stream(line);
    std::string machine, ring_channels, gbs, nccl, ranks, channels;
    for (auto* word : {&machine, &ring_channels, &gbs, &nccl, &ranks, &channels})
      std::getline(stream, *word, ',');
    const SearchedGraph expected = {std::stoi(channels) / 2, std::stod(gbs)};

    EXPECT_EQ(estimate_search(first_gpus(machine, std::stoul(ranks)), compute_capability,
                              PeerAccess::none, parse_nccl_release(nccl).value()),
              expected)
        << machine << ", NCCL " << nccl << ", " << ranks << " ranks";
    ++seen;
  }
  EXPECT_GE(seen, 1280);
}

}  // namespace
}  // namespace lanewise
