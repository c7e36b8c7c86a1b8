// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/base_environment.hpp"

#include <string>

#include "core/nccl/launch_rule.hpp"

namespace lanewise {
namespace {

// Of the releases that are known to read it; a switch at 2.31 would be this one number.
constexpr NcclRelease first_release = {2, 21, 0};

// Rows tree and ring, columns LL, LL128, Simple; a negative number keeps NCCL's own, and so does
// what is left out.
constexpr const char* kept_thresholds = "-1 -1 -1 ";
constexpr int threshold_of_process = 8;

constexpr NcclRelease first_asked_after_init = {2, 31, 0};
constexpr NcclRelease first_not_seen = {2, 33, 0};

int ring_ll_threshold(const std::optional<int>& ranks) noexcept {
  const bool has_its_own = ranks && *ranks >= 2 && *ranks <= most_ranks_with_base_of_their_own;
  return has_its_own ? 4 * *ranks + 1 : threshold_of_process;
}

bool has_thresholds(const NcclLimits& limits, int ranks, int ring_ll) noexcept {
  for (const Algorithm algorithm : {Algorithm::tree, Algorithm::ring}) {
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      const bool is_ring_ll = algorithm == Algorithm::ring && protocol == Protocol::ll;
      const auto in_force = thread_threshold(algorithm, protocol, ranks, limits);
      const auto expected = is_ring_ll ? static_cast<std::size_t>(ring_ll)
                                       : thread_threshold(algorithm, protocol, ranks, {});
      if (in_force != expected) return false;
    }
  }
  return true;
}

}  // namespace

Environment base_environment(const std::optional<NcclRelease>& release,
                             const std::optional<int>& ranks) {
  if (release && *release < first_release) return {};
  return {{base_variable, kept_thresholds + std::to_string(ring_ll_threshold(ranks))}};
}

bool has_base_of_each_communicator(const NcclRelease& release) noexcept {
  return release >= first_asked_after_init && release < first_not_seen;
}

bool has_base_thresholds(const NcclLimits& limits, int ranks) noexcept {
  return has_thresholds(limits, ranks, threshold_of_process) ||
         has_thresholds(limits, ranks, ring_ll_threshold(ranks));
}

NcclLimits stock_limits(const NcclLimits& limits, int ranks) noexcept {
  return has_base_thresholds(limits, ranks) ? without_thresholds(limits) : limits;
}

}  // namespace lanewise
