// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "lanewise/latency.hpp"

namespace lanewise {
namespace {

constexpr LatencyConstants fitted = {
    .tree_ll = {4.0, 0.9, 4.4, 0.03},
    .tree_simple = {4.0, 4.4, 3.0, 0.03},
    .ring_ll = {3.0, 0.6, 1.33, 0.05},
    .ring_simple = {4.0, 5.9, 0.10, 0.03},
};

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
  const double wave_hops = choice.algorithm == Algorithm::ring ? hops : 1;
  return terms.base_us + hops * terms.hop_us + wave_hops * launch.waves * terms.wave_us +
         static_cast<double>(bytes) / 1024 * terms.us_per_kib;
}

}  // namespace lanewise
