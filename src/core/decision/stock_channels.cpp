// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/stock_channels.hpp"

#include "core/nccl/launch_rule.hpp"
#include "core/profile/base_environment.hpp"

namespace lanewise {
namespace {

// Grouped broadcasts are run as an all-gather that takes a tuner's count as it is.
constexpr NcclRelease first_with_unchecked_gather = {2, 29, 0};

bool is_unchecked(Collective collective, const NcclRelease& release) noexcept {
  return collective == Collective::all_gather && release >= first_with_unchecked_gather &&
         channel_request(release) == ChannelRequest::replaces;
}

}  // namespace

StockChannels::StockChannels(int ranks, const NcclRelease& release,
                             const NcclLimits& limits) noexcept
    : is_needed_(ranks > 1 && has_base_thresholds(limits, ranks)),
      release_(release),
      stock_(without_thresholds(limits)),
      fewest_channels_(channels_of_communicator(1, limits, release)) {}

std::optional<int> StockChannels::answer(const Query& query,
                                         const CostTable& table) const noexcept {
  if (!is_needed_ || query.bytes == 0 || query.ranks < 2) return std::nullopt;
  const auto pick = table.stock_pick();
  if (!pick || pick->algorithm != Algorithm::ring || pick->protocol != Protocol::ll)
    return std::nullopt;
  // As many as there can be: NCCL has fewer, and takes the lower number.
  const LaunchQuestion question{.algorithm = pick->algorithm,
                                .protocol = pick->protocol,
                                .bytes = query.bytes,
                                .ranks = query.ranks,
                                .channels = release_.max_channels(),
                                .release = release_};
  const int channels = own_channels(question, stock_);
  if (is_unchecked(query.collective, release_) && channels > fewest_channels_) return std::nullopt;
  return channels;
}

}  // namespace lanewise
