// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/base_environment.hpp"

#include "core/nccl/launch_rule.hpp"

namespace lanewise {
namespace {

// Of the releases that are known to read it; a switch at 2.31 would be this one number.
constexpr NcclRelease first_release = {2, 21, 0};

constexpr const char* variable = "NCCL_THREAD_THRESHOLDS";
// Rows tree and ring, columns LL, LL128, Simple; a negative number keeps NCCL's own, and so does
// what is left out.
constexpr const char* thresholds = "-1 -1 -1 8";
constexpr std::size_t ring_ll_threshold = 8;

}  // namespace

Environment base_environment(const std::optional<NcclRelease>& release) {
  if (release && *release < first_release) return {};
  return {{variable, thresholds}};
}

bool has_base_thresholds(const NcclLimits& limits, int ranks) noexcept {
  for (const Algorithm algorithm : {Algorithm::tree, Algorithm::ring}) {
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      const bool is_ring_ll = algorithm == Algorithm::ring && protocol == Protocol::ll;
      const auto in_force = thread_threshold(algorithm, protocol, ranks, limits);
      const auto expected =
          is_ring_ll ? ring_ll_threshold : thread_threshold(algorithm, protocol, ranks, {});
      if (in_force != expected) return false;
    }
  }
  return true;
}

NcclLimits stock_limits(const NcclLimits& limits, int ranks) noexcept {
  return has_base_thresholds(limits, ranks) ? without_thresholds(limits) : limits;
}

}  // namespace lanewise
