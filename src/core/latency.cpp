// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "lanewise/latency.hpp"

#include <algorithm>

namespace lanewise {
namespace {

// Printed by: scripts/fit_waves.py ../shared/data/allreduce_h200x2.csv
constexpr LatencyConstants fitted = {
    .tree_ll = {8.1035, 0.6894, 0.0, 0.8212, 0.0, 0.0, 0.0397},
    .tree_simple = {16.1646, 3.3052, 0.0, 0.0311, 0.0337, 0.0, 0.0205},
    .ring_ll = {6.3951, 0.6348, 1.0833, 0.0504, 0.0, 0.0, 0.0398},
    .ring_simple = {14.9677, 4.3588, 0.0, 0.0348, 0.0, 1.6957, 0.0277},
};

// What a FIFO holds; the same script chose it, from the kink of Tree/Simple at 512 KiB a channel.
constexpr double fifo_kib = 512;
constexpr double block_threads = 512;

const LatencyTerms& terms_of(const Choice& choice, const LatencyConstants& constants) noexcept {
  const bool is_ll = choice.protocol == Protocol::ll;
  if (choice.algorithm == Algorithm::tree) return is_ll ? constants.tree_ll : constants.tree_simple;
  return is_ll ? constants.ring_ll : constants.ring_simple;
}

}  // namespace

const LatencyConstants& measured_constants() noexcept { return fitted; }

double predicted_us(const Choice& choice, std::size_t bytes, const Communicator& communicator,
                    const LatencyConstants& constants) noexcept {
  const LatencyTerms& terms = terms_of(choice, constants);
  const Launch launch = launch_of(choice, bytes, communicator);
  const int hops = 2 * (communicator.ranks - 1);
  const double times = choice.algorithm == Algorithm::ring ? hops : 1;
  const double slice_kib = static_cast<double>(launch.slice_bytes) / 1024;
  return terms.base_us +
         hops * (terms.hop_us + terms.fill_kib_us * std::min(slice_kib, fifo_kib) +
                 terms.block_us * launch.threads / block_threads) +
         times * (terms.wave_us * launch.waves + terms.slice_kib_us * slice_kib) +
         static_cast<double>(bytes) / 1024 * terms.kib_us;
}

}  // namespace lanewise
