// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/latency.hpp"

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

// By GpuSharing. Printed by: scripts/fit_waves.py ../shared/data/allreduce_h200x2.csv
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

const LatencyTerms& terms_of(const Choice& choice, const LatencyConstants& constants) noexcept {
  const bool is_ll = choice.protocol == Protocol::ll;
  if (choice.algorithm == Algorithm::tree) return is_ll ? constants.tree_ll : constants.tree_simple;
  return is_ll ? constants.ring_ll : constants.ring_simple;
}

}  // namespace

const LatencyConstants& measured_constants(GpuSharing sharing) noexcept {
  return fitted[static_cast<std::size_t>(sharing)];
}

double predicted_us(const Choice& choice, std::size_t bytes,
                    const Communicator& communicator) noexcept {
  const LatencyTerms& terms = terms_of(choice, measured_constants(communicator.sharing));
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
