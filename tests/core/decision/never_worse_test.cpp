// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// "Never worse than stock", over machines x releases x ranks x sizes.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "core/decision/explanation.hpp"
#include "core/decision/policy.hpp"
#include "core/decision/wave_policy.hpp"
#include "core/machine/machine_facts.hpp"
#include "model_builders.hpp"

namespace lanewise {
namespace {

using testing::all_reduce;
using testing::guard_ring;
using testing::view;

struct Scene {
  CostModelInputs machine;
  PolicyInputs inputs;
  Communicator communicator;
};

Scene scene_of(const NcclRelease& release, int ranks, const SearchedGraph& ring,
               GpuSharing sharing) {
  Scene scene;
  scene.machine.ranks = ranks;
  scene.machine.compute_capability = 89;
  scene.machine.release = release;
  scene.machine.ring = scene.machine.tree = ring;
  scene.inputs = testing::policy_inputs(ranks, release);
  scene.inputs.nvlink = NvlinkKnowledge::impossible;
  scene.inputs.sharing = sharing;
  if (release < NcclRelease{2, 22, 0}) scene.inputs.costs = CostTableAccess::without_table;
  scene.communicator = {ranks, 2 * ring.channels, release, {}, sharing};
  return scene;
}

// From a failed search to Gen5 x16, in one ring or two.
void for_each_scene(const std::function<void(const Scene&, std::size_t)>& visit) {
  for (const NcclRelease release :
       {NcclRelease{2, 21, 5}, NcclRelease{2, 22, 3}, NcclRelease{2, 28, 9}, NcclRelease{2, 30, 7}})
    for (const double bandwidth : {0.1, 3.0, 12.0, 48.0})
      for (const int rings : {1, 2})
        for (const int ranks : {2, 3, 4, 8, 12})
          for (const auto sharing : {GpuSharing::one_rank_a_gpu, GpuSharing::shared}) {
            const Scene scene = scene_of(release, ranks, {rings, bandwidth / rings}, sharing);
            for (std::size_t bytes = 1024; bytes <= 4 << 20; bytes += bytes / 2)
              visit(scene, bytes);
          }
}

TEST(NeverWorse, WhatIsAnsweredIsPredictedToGainOverNcclsPick) {
  int answers = 0;
  for_each_scene([&](const Scene& scene, std::size_t bytes) {
    CostArray costs = cost_array(bytes, scene.machine);
    const bool is_shown = scene.inputs.costs == CostTableAccess::with_table;
    const auto decision =
        Policy(scene.inputs)
            .decide(all_reduce(bytes, scene.inputs.ranks), is_shown ? view(costs) : CostTable());
    if (!decision) return;
    ++answers;
    const auto stock = view(costs).stock_pick().value();
    EXPECT_LE(predicted_us(decision->choice, bytes, scene.communicator),
              predicted_us(stock, bytes, scene.communicator) * 1.0001)
        << to_string(scene.inputs.release) << ", " << scene.inputs.ranks << " ranks, " << bytes
        << ": " << to_string(stock) << " to " << to_string(decision->choice);
  });
  EXPECT_GT(answers, 1000);
}

TEST(NeverWorse, NoChoiceThatGainsNothingIsExplainedAsOne) {
  int choices = 0;
  for_each_scene([&](Scene scene, std::size_t bytes) {
    // More channels than the policy reckons with.
    for (const int channels : {scene.communicator.channels, 16}) {
      scene.communicator.channels = channels;
      CostArray costs = cost_array(bytes, scene.machine);
      const auto told = explain(scene.inputs, all_reduce(bytes, scene.inputs.ranks), view(costs),
                                scene.communicator);
      if (!told.chosen) continue;
      ++choices;
      EXPECT_NE(told.chosen->choice, told.stock->choice) << bytes;
      EXPECT_LE(*told.chosen->predicted_us, *told.stock->predicted_us) << bytes;
    }
  });
  EXPECT_GT(choices, 1000);
}

TEST(NeverWorse, RingIsNotTakenWhereNcclGuardsAgainstIt) {
  const Choice ring{Algorithm::ring, Protocol::ll, 4};
  for (const int ranks : {9, 10, 12, 16}) {
    Scene scene = scene_of({2, 30, 7}, ranks, {2, 24}, GpuSharing::one_rank_a_gpu);
    for (const bool is_measured : {false, true}) {
      if (is_measured)
        scene.inputs.profile =
            MeasuredGroup{RuleSet({Rule{{1, 4 << 20}, ring}}), Ll128Evidence::none, LinkKind::pcie};
      for (std::size_t bytes = 1024; bytes <= 4 << 20; bytes *= 2) {
        CostArray costs = cost_array(bytes, scene.machine);
        guard_ring(costs);
        const auto decision = Policy(scene.inputs).decide(all_reduce(bytes, ranks), view(costs));
        if (decision) {
          EXPECT_NE(decision->choice.algorithm, Algorithm::ring) << ranks << ' ' << bytes;
        }
      }
    }
  }
}

// As many GPUs as ranks, each on a link of its own.
Topology machine_of(int gpus, const PciLink& link) {
  Topology topology;
  topology.cpu_vendor = "AuthenticAMD";
  for (int i = 0; i < gpus; ++i) {
    Gpu gpu;
    gpu.device = 0x2204;
    gpu.address.bus = static_cast<std::uint8_t>(8 * (i + 1));
    gpu.link = link;
    gpu.numa = 0;
    gpu.root = topology.roots.size();
    topology.roots.push_back({.bus = gpu.address.bus});
    topology.gpus.push_back(gpu);
  }
  return topology;
}

Scene scene_of(int ranks, const PciLink& link) {
  const Topology topology = machine_of(ranks, link);
  // No older GPU has Gen6. On one, NCCL would find four rings, and the policy reckons with two.
  const int compute_capability = link.generation == 6 ? 120 : 86;
  const auto found = estimate_search(topology, compute_capability);
  Scene scene = scene_of({2, 30, 7}, ranks, found, GpuSharing::one_rank_a_gpu);
  scene.machine.compute_capability = compute_capability;
  add_machine_facts(scene.inputs, topology, GpuSelection::known);
  return scene;
}

bool goes_to_ll(const Explanation& told) {
  return told.chosen && told.chosen->choice.protocol == Protocol::ll &&
         told.stock->choice.protocol == Protocol::simple;
}

void expect_no_loss(const Scene& scene, std::size_t bytes, double rate) {
  CostArray costs = cost_array(bytes, scene.machine);
  const Query query = all_reduce(bytes, scene.inputs.ranks);
  const auto decision = Policy(scene.inputs).decide(query, view(costs));
  const auto told = explain(scene.inputs, query, view(costs), scene.communicator);
  if (!decision) return;
  const auto machines = WavePolicy(scene.inputs).plausible_machines(query, view(costs));
  for (const auto& machine : machines.machines())
    EXPECT_LE(
        predict(decision->choice, bytes, scene.communicator, machine).total_us(),
        predict(*view(costs).stock_pick(), bytes, scene.communicator, machine).total_us() * 1.0001);
  if (!told.chosen) return;
  const auto wire_us = least_wire_us(told.chosen->choice, bytes, scene.inputs.ranks, rate);
  EXPECT_GE(told.chosen->interval_us->low, 0.999 * wire_us);
  EXPECT_LE(told.chosen->interval_us->low, told.stock->interval_us->high);
  if (goes_to_ll(told)) {
    EXPECT_LT(wire_us, told.stock->interval_us->low);
  }
}

TEST(NeverWorse, NoPickCanBeSlowerThanStockOnAnyLink) {
  for (int generation = 1; generation <= 6; ++generation)
    for (const int width : {1, 2, 4, 8, 16})
      for (int ranks = 2; ranks <= 16; ++ranks) {
        SCOPED_TRACE("Gen" + std::to_string(generation) + " x" + std::to_string(width) + ", " +
                     std::to_string(ranks) + " ranks");
        const Scene scene = scene_of(ranks, {generation, width});
        const double rate = PciLink{generation, width}.gigabytes_per_second();
        for (std::size_t bytes = 2048; bytes <= 4 << 20; bytes += bytes / 2)
          expect_no_loss(scene, bytes, rate);
      }
}

// 4 x 3090 on Gen3 x4 and 8 x 3090 on Gen3 x1, as reported.
TEST(NeverWorse, NarrowLinksKeepSimpleWhereLlsDoubledBytesWeigh) {
  for (const auto& [ranks, width] : {std::pair{4, 4}, std::pair{8, 1}}) {
    const Scene scene = scene_of(ranks, {3, width});
    for (std::size_t bytes = 32 << 10; bytes <= 1 << 20; bytes += 2048) {
      CostArray costs = cost_array(bytes, scene.machine);
      const auto told =
          explain(scene.inputs, all_reduce(bytes, ranks), view(costs), scene.communicator);
      EXPECT_FALSE(goes_to_ll(told)) << ranks << " ranks, " << bytes;
    }
  }
}

}  // namespace
}  // namespace lanewise
