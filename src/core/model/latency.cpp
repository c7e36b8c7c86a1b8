// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/latency.hpp"

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

// By GpuSharing. Printed by: scripts/fit_waves.py tests/data/allreduce_h200x2.csv
// bench/measurements/allreduce_h200x4.csv
constexpr std::array<LatencyConstants, 2> fitted = {{
    // 2 ranks on 2 H200s, 4 ranks on 4. Beyond 128 KiB four GPUs that write to host memory make
    // Tree
    // up to 28 times slower than any sum of hops and bytes.
    {
        .largest_tree_bytes = 128 << 10,
        .tree_ll = {5.0223, 2.3586, 0.0, 0.6190, 0.0538, 0.0, 0.0589},
        .tree_simple = {11.7247, 5.7092, 0.0, 0.0, 0.0532, 0.0, 0.0187},
        .ring_ll = {6.4519, 0.6813, 1.0938, 0.0449, 0.0, 0.0, 0.0388},
        .ring_simple = {14.3872, 4.8960, 0.0, 0.0361, 0.0, 1.4573, 0.0268},
    },
    // 4 and 8 ranks on 2 H200s, 8 ranks on 4.
    {
        .largest_tree_bytes = 4 << 20,
        .tree_ll = {6.0424, 0.8322, 0.0, 0.8739, 0.0, 0.0, 0.0429},
        .tree_simple = {9.6341, 3.8168, 0.0, 0.0369, 0.0347, 0.0, 0.0249},
        .ring_ll = {4.1893, 0.7012, 1.1668, 0.0277, 0.0, 0.0, 0.0485},
        .ring_simple = {11.0219, 4.6423, 0.0, 0.0312, 0.0, 1.6260, 0.0331},
    },
}};

// What a FIFO holds; the same script chose it, from the kink of Tree/Simple at 512 KiB a channel.
constexpr double fifo_kib = 512;
constexpr double block_threads = 512;

constexpr double bytes_per_us_of_gigabyte = 1000;
// What goes over the wire for a byte, by protocol: LL sends a flag of 4 bytes with 4 of data, LL128
// one of 8 with 120.
constexpr std::array lines_per_byte = {2.0, 128.0 / 120, 1.0};
// A hop by peer access over one through host memory, from published times of 4 and 8 RTX PRO 6000:
// 11 to 13 us and 18 to 24 at one wave of Ring/LL, 48 at 32 KiB of Ring/Simple.
constexpr std::array peer_hops = {0.6, 0.6, 0.5};

}  // namespace

const LatencyConstants& measured_constants(GpuSharing sharing) noexcept {
  return fitted[static_cast<std::size_t>(sharing)];
}

const LatencyTerms& terms_of(const Choice& choice, const LatencyConstants& constants) noexcept {
  const bool is_ll = choice.protocol == Protocol::ll;
  if (choice.algorithm == Algorithm::tree) return is_ll ? constants.tree_ll : constants.tree_simple;
  return is_ll ? constants.ring_ll : constants.ring_simple;
}

double least_wire_us(const Choice& choice, std::size_t bytes, int ranks,
                     double link_rate) noexcept {
  // Ring passes each byte 2(n-1)/n times over every link. Tree is a chain inside a node: all but
  // its ends send everything up and down.
  const bool is_chain = choice.algorithm == Algorithm::tree && ranks > 2;
  const double passes = is_chain ? 2.0 : 2.0 * (ranks - 1) / ranks;
  const double moved = static_cast<double>(bytes) * passes *
                       lines_per_byte[static_cast<std::size_t>(choice.protocol)];
  return moved / (link_rate * bytes_per_us_of_gigabyte);
}

TermFactors term_factors(const Choice& choice, std::size_t bytes, int ranks,
                         const Launch& launch) noexcept {
  const double hops = 2 * (ranks - 1);
  const double times = choice.algorithm == Algorithm::ring ? hops : 1;
  const double slice_kib = static_cast<double>(launch.slice_bytes) / 1024;
  return {1,
          hops,
          times * launch.waves,
          times * slice_kib,
          hops * std::min(slice_kib, fifo_kib),
          hops * launch.threads / block_threads,
          static_cast<double>(bytes) / 1024};
}

Prediction predict(const LatencyTerms& terms, const Choice& choice, std::size_t bytes, int ranks,
                   const Launch& launch, const MachineModel& machine) noexcept {
  const auto [one, hops, waves, slices, fills, blocks, kib] =
      term_factors(choice, bytes, ranks, launch);
  const double hop_scale = machine.transport == Transport::peer
                               ? peer_hops[static_cast<std::size_t>(choice.protocol)]
                               : 1.0;
  Prediction prediction;
  prediction.base_us = one * terms.base_us;
  prediction.hops_us = hop_scale * (hops * terms.hop_us + blocks * terms.block_us);
  prediction.waves_us = hop_scale * waves * terms.wave_us;
  prediction.wire_us = least_wire_us(choice, bytes, ranks, machine.link_rate);
  // What a block moves is its own speed; only what all channels share is the links'.
  const double block_us = slices * terms.slice_kib_us + fills * terms.fill_kib_us;
  const double shared_us = kib * terms.kib_us * fitted_machine.moving_rate / machine.moving_rate;
  const double moved_us =
      std::max(block_us + shared_us, least_wire_us(choice, bytes, ranks, machine.moving_rate));
  prediction.contention_us = moved_us - prediction.wire_us;
  return prediction;
}

Prediction predict(const Choice& choice, std::size_t bytes, const Communicator& communicator,
                   const MachineModel& machine) noexcept {
  const auto& constants = measured_constants(communicator.sharing);
  return predict(terms_of(choice, constants), choice, bytes, communicator.ranks,
                 launch_of(choice, bytes, communicator), machine);
}

double predicted_us(const Choice& choice, std::size_t bytes,
                    const Communicator& communicator) noexcept {
  return predict(choice, bytes, communicator, fitted_machine).total_us();
}

}  // namespace lanewise
