// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/model/machine_model.hpp"

#include <algorithm>

namespace lanewise {
namespace {

// Gen3 x4 and Gen6 x16: of links that nobody can read. Narrower ones are risers, which are read.
constexpr LinkRates any_link = {3.94, 121.0};
// What NCCL moved over links whose rate is known, as a share of it: from 0.31 (4 x 5090, 4 MiB) by
// 0.39 (4 x 4090 with peer access, and as much without) to 1 (two H200s over host memory).
constexpr double least_share = 0.33;

LinkRates rates_of(const LinkRates& links, const std::optional<double>& nccl_rate) noexcept {
  if (links.is_known()) return links;
  if (nccl_rate) return {*nccl_rate, any_link.high};
  return any_link;
}

}  // namespace

PlausibleMachines::PlausibleMachines(const LinkRates& links, Transport transport,
                                     std::optional<double> nccl_rate) noexcept {
  const LinkRates rates = rates_of(links, nccl_rate);
  const double usual = links.is_known() ? links.high : fitted_machine.moving_rate;
  for (const auto one : {Transport::host_memory, Transport::peer}) {
    if (transport != Transport::unknown && transport != one) continue;
    machines_[count_++] = {one, rates.high, usual};
    machines_[count_++] = {one, rates.high, std::min(usual, rates.low * least_share)};
  }
}

}  // namespace lanewise
