// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How fast the narrowest hop of an all-reduce can be at most, as far as a topology tells. A bound
// from facts: link width and generation at their maximum, and who shares an uplink.
#include "core/machine/topology.hpp"

namespace lanewise {

// GB/s one way. `low`: where the narrowest link is the communicator's, and every GPU below an
// uplink sends through it. `high`: where it has the uplink for itself. Zero: not known.
struct LinkRates {
  double low = 0;
  double high = 0;
  friend bool operator==(const LinkRates&, const LinkRates&) = default;
  [[nodiscard]] bool is_known() const noexcept { return low > 0 && high > 0; }
};

// Of a ring over these GPUs, or over an unknown part of them. Nothing is known of a flat guest's
// tree, and where a GPU's link is not known.
[[nodiscard]] LinkRates link_rates(const Topology& topology);

}  // namespace lanewise
