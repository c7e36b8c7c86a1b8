// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/cost_model.hpp"

#include <algorithm>
#include <bit>

namespace lanewise {
namespace {

// All numbers are NCCL's, from NCCL_ABI.md section 4: microseconds and GB/s.
using PerProtocol = std::array<double, protocol_count>;

struct Latency {
  PerProtocol base;
  PerProtocol nvlink_hop;
  PerProtocol pcie_hop;
};
constexpr Latency ring_latency = {{6.6, 14.0, 8.4}, {0.6, 1.9, 3.4}, {1.0, 2.5, 5.7}};
constexpr Latency tree_latency = {{6.8, 14.0, 8.4}, {0.6, 1.25, 4.0}, {1.0, 1.9, 4.0}};
constexpr Latency tree_latency_before_223 = {{6.8, 14.0, 0.0}, {0.6, 1.25, 28.0}, {1.0, 1.9, 28.0}};

// Indexed by Volta, Ampere, Hopper, Blackwell.
using PerGeneration = std::array<double, 4>;
struct Caps {
  NcclRelease since;
  PerGeneration ll;
  PerGeneration ring_ll128;  // of a channel
  PerGeneration tree_ll128;  // of a channel
  PerGeneration tree;        // of a channel
};
constexpr std::array caps_by_release = {
    Caps{{2, 29, 7},
         {39, 87.7, 141, 282},
         {20, 20, 36.7, 40},
         {20, 20, 36.7, 55.6},
         {26.5, 24, 38.7, 70}},
    Caps{{2, 29, 0},
         {39, 87.7, 141, 282},
         {20, 20, 36.7, 34.5},
         {20, 20, 36.7, 55.6},
         {26.5, 24, 38.7, 70}},
    Caps{{2, 28, 0},
         {39, 87.7, 141, 282},
         {20, 20, 36.7, 73.4},
         {20, 20, 36.7, 55.6},
         {26.5, 24, 38.7, 70}},
    Caps{{2, 25, 0},
         {39, 87.7, 141, 282},
         {20, 20, 36.7, 73.4},
         {20, 20, 36.7, 73.4},
         {26.5, 24, 38.7, 77.4}},
    Caps{{0, 0, 0},
         {39, 87.7, 141, 141},
         {20, 20, 36.7, 36.7},
         {20, 20, 36.7, 36.7},
         {26.5, 24, 38.7, 38.7}},
};

// How much of its bandwidth Tree reaches: 64 B, 128 B, ... 256 MiB, for LL, LL128 and Simple.
constexpr std::size_t corrections = 23;
constexpr std::array<std::array<double, corrections>, protocol_count> tree_correction = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}};

std::size_t generation_of(int compute_capability) noexcept {
  if (compute_capability >= 100) return 3;
  if (compute_capability >= 90) return 2;
  return compute_capability >= 80 ? 1 : 0;
}

const Caps& caps_of(const NcclRelease& release) noexcept {
  return *std::find_if(caps_by_release.begin(), std::prev(caps_by_release.end()),
                       [&](const Caps& caps) { return release >= caps.since; });
}

double total_bandwidth(const SearchedGraph& graph) noexcept {
  return graph.channels * graph.channel_bandwidth;
}

double ring_bandwidth(Protocol protocol, const CostModelInputs& inputs) noexcept {
  const Caps& caps = caps_of(inputs.release);
  const std::size_t generation = generation_of(inputs.compute_capability);
  double bandwidth = total_bandwidth(inputs.ring);
  if (protocol == Protocol::ll) bandwidth = std::min(caps.ll[generation], bandwidth * 0.5);
  if (protocol == Protocol::ll128)
    bandwidth = std::min(0.92 * bandwidth, inputs.ring.channels * caps.ring_ll128[generation]);
  return bandwidth * inputs.ranks / (2.0 * (inputs.ranks - 1));
}

double tree_bandwidth(Protocol protocol, std::size_t bytes,
                      const CostModelInputs& inputs) noexcept {
  const Caps& caps = caps_of(inputs.release);
  const std::size_t generation = generation_of(inputs.compute_capability);
  double bandwidth =
      std::min(0.92 * total_bandwidth(inputs.tree), inputs.tree.channels * caps.tree[generation]);
  if (protocol == Protocol::ll) bandwidth = std::min(bandwidth / 3.8, caps.ll[generation]);
  if (protocol == Protocol::ll128)
    bandwidth = std::min(bandwidth * 7 / 9, inputs.tree.channels * caps.tree_ll128[generation]);
  const auto step = static_cast<std::size_t>(std::bit_width(bytes >> 6));
  const auto& correction = tree_correction[static_cast<std::size_t>(protocol)];
  if (step > 0) bandwidth *= correction[std::min(step - 1, corrections - 1)];
  return bandwidth * 0.5;
}

const Latency& latency_of(Algorithm algorithm, const NcclRelease& release) noexcept {
  if (algorithm == Algorithm::ring) return ring_latency;
  return release < NcclRelease{2, 23, 0} ? tree_latency_before_223 : tree_latency;
}

}  // namespace

std::optional<double> cost_us(Algorithm algorithm, Protocol protocol, std::size_t bytes,
                              const CostModelInputs& inputs) noexcept {
  const bool is_ring = algorithm == Algorithm::ring;
  if (!is_ring && algorithm != Algorithm::tree) return std::nullopt;
  if (protocol == Protocol::ll128 && inputs.ll128 == Ll128Pricing::forbidden) return std::nullopt;
  const double bandwidth =
      is_ring ? ring_bandwidth(protocol, inputs) : tree_bandwidth(protocol, bytes, inputs);
  if (!(bandwidth > 0)) return std::nullopt;
  const Latency& latency = latency_of(algorithm, inputs.release);
  const auto column = static_cast<std::size_t>(protocol);
  const double hop =
      inputs.link == LinkKind::nvlink ? latency.nvlink_hop[column] : latency.pcie_hop[column];
  return latency.base[column] + 2.0 * (inputs.ranks - 1) * hop +
         static_cast<double>(bytes) / (1000 * bandwidth);
}

CostArray cost_array(std::size_t bytes, const CostModelInputs& inputs) noexcept {
  CostArray table;
  table.fill(-1.0F);
  for (std::size_t row = 0; row < algorithm_count; ++row)
    for (std::size_t column = 0; column < protocol_count; ++column) {
      const auto cost =
          cost_us(static_cast<Algorithm>(row), static_cast<Protocol>(column), bytes, inputs);
      if (cost) table[row * protocol_count + column] = static_cast<float>(*cost);
    }
  return table;
}

}  // namespace lanewise
