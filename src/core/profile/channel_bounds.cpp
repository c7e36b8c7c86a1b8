// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/channel_bounds.hpp"

#include <algorithm>
#include <string>

#include "core/profile/profile_variable.hpp"

namespace lanewise {
namespace {

// NCCL doubles what its search finds: no communicator has fewer unless it is told to.
constexpr int fewest_of_nccl = 2;

std::optional<int> read_bound(const Environment& variables, const char* name, int most) noexcept {
  const auto found = variables.find(name);
  const auto number = found == variables.end() ? std::nullopt : read_whole(found->second);
  if (!number) return std::nullopt;
  return static_cast<int>(std::clamp<long long>(*number, 1, most));
}

std::optional<int> read_either(const Environment& variables, const char* name, const char* older,
                               int most) noexcept {
  const auto bound = read_bound(variables, name, most);
  return bound ? bound : read_bound(variables, older, most);
}

}  // namespace

ChannelBounds channel_bounds(const Environment& variables, const NcclRelease& release) noexcept {
  const int most = release.max_channels();
  const auto read = [&](const char* name) { return read_bound(variables, name, most); };
  const int most_ctas = read("NCCL_MAX_CTAS").value_or(most);
  const int most_channels =
      read_either(variables, "NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", most).value_or(most);
  const int high = std::min(most_ctas, most_channels);
  // NCCL lowers the one of two CTA bounds that contradict each other, and raises channels.
  const int least_ctas = std::min(read("NCCL_MIN_CTAS").value_or(0), most_ctas);
  const int least_channels =
      read_either(variables, "NCCL_MIN_NCHANNELS", "NCCL_MIN_NRINGS", most).value_or(0);
  const int low = std::max(least_ctas, least_channels);
  return {low > std::min(high, fewest_of_nccl) ? low : 0, std::max(low, high)};
}

std::optional<int> usable_channels(const ChannelBounds& there, const ChannelBounds& here) noexcept {
  if (there.low != here.low || here.high > there.high) return std::nullopt;
  return here.high;
}

}  // namespace lanewise
