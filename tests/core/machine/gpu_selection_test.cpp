// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/gpu_selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"

namespace lanewise {
namespace {

// Four GPUs on each of two NUMA nodes.
Topology make_machine() {
  Topology topology;
  for (int i = 0; i < 8; ++i) {
    Gpu gpu;
    gpu.address.bus = static_cast<std::uint8_t>(i + 1);
    gpu.numa = i / 4;
    topology.gpus.push_back(gpu);
  }
  return topology;
}

TEST(GpuSelection, NumbersGpusByPlaceWhereTheSourceDoesNot) {
  auto topology = make_machine();
  EXPECT_EQ(gpu_numbers(topology).back(), 7);

  for (auto& gpu : topology.gpus) gpu.number = 3;
  EXPECT_EQ(gpu_numbers(topology).back(), 7);
}

TEST(GpuSelection, FindsGpusByTheSourcesNumbers) {
  auto topology = make_machine();
  for (int i = 0; i < 8; ++i) topology.gpus[static_cast<std::size_t>(i)].number = 10 + i;

  EXPECT_EQ(find_gpus(topology, {12, 10}), (std::vector<std::size_t>{2, 0}));
  EXPECT_THROW((void)find_gpus(topology, {2}), Error);
  EXPECT_THROW((void)find_gpus(topology, {10, 10}), Error);
}

TEST(GpuSelection, KeepsTheGpusThatAreNamed) {
  const auto selected = select_gpus(make_machine(), {1, 5});

  ASSERT_EQ(selected.gpus.size(), 2U);
  EXPECT_EQ(selected.path(0, 1), PathType::sys);
}

TEST(GpuSelection, SamplesNeighboursAndASpreadOverTheNodes) {
  const auto groups = sample_groups(make_machine(), 4);

  EXPECT_NE(std::ranges::find(groups, std::vector<std::size_t>{4, 5, 6, 7}), groups.end());
  EXPECT_NE(std::ranges::find(groups, std::vector<std::size_t>{0, 1, 4, 5}), groups.end());
  EXPECT_TRUE(sample_groups(make_machine(), 9).empty());
}

}  // namespace
}  // namespace lanewise
