// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/link_rates.hpp"

#include <algorithm>

#include "core/machine/topology_facts.hpp"

namespace lanewise {
namespace {

double rate_of(const Gpu& gpu) noexcept {
  return (gpu.narrowest.is_known() ? gpu.narrowest : gpu.link).gigabytes_per_second();
}

}  // namespace

LinkRates link_rates(const Topology& topology) {
  if (topology.gpus.empty() || is_flat(topology)) return {};
  LinkRates rates;
  for (const auto& gpu : topology.gpus) {
    const double rate = rate_of(gpu);
    if (rate <= 0) return {};
    rates.low = rates.low > 0 ? std::min(rates.low, rate) : rate;
    rates.high = std::max(rates.high, rate);
  }
  for (const auto& uplink : shared_uplinks(topology)) {
    const double rate = topology.bridges[uplink.bridge].link.gigabytes_per_second();
    if (rate > 0) rates.low = std::min(rates.low, rate / static_cast<double>(uplink.gpus.size()));
  }
  return rates;
}

}  // namespace lanewise
