// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "lanewise/wave_policy.hpp"

#include <algorithm>
#include <cmath>

namespace lanewise {
namespace {

// What NCCL's search finds on PCIe machines: one ring or two (fixtures/stock_tables).
constexpr std::array plausible_search_channels = {1, 2};
// Channel counts worth asking for; more than the communicator has is left out.
constexpr std::array candidate_channels = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
// Predictions this near are equal: fewer channels win then.
constexpr double tie = 1.001;

constexpr std::array<std::string_view, 9> reason_texts = {
    "predicted faster than NCCL's choice",
    "NCCL's choice is within 10 % of the best",
    "NVLink: the model is for PCIe",
    "the prices do not tell PCIe from NVLink",
    "NCCL's choice is outside the model",
    "larger than the model's data",
    "several operations in one group",
    "GPU models differ",
    "NCCL shows no prices and NCCL_ALGO or NCCL_PROTO is set",
};

struct Entry {
  Algorithm algorithm;
  Protocol protocol;
};
constexpr std::array modelled_entries = {
    Entry{Algorithm::tree, Protocol::ll}, Entry{Algorithm::tree, Protocol::simple},
    Entry{Algorithm::ring, Protocol::ll}, Entry{Algorithm::ring, Protocol::simple}};

// Where NCCL's own pick and the candidate differ in channels alone, LL never loses by more.
bool widens(const Choice& candidate, const Choice& stock, int stock_channels) noexcept {
  return candidate.algorithm == stock.algorithm && candidate.protocol == stock.protocol &&
         candidate.protocol == Protocol::ll && candidate.channels >= stock_channels;
}

// The gain that ranks a candidate; nullopt where it is not admissible.
std::optional<double> score(const Choice& candidate, const std::optional<Choice>& stock,
                            std::size_t bytes, std::span<const Communicator> plausible) noexcept {
  const LatencyConstants& constants = measured_constants();
  double worst = INFINITY;
  double best = 0;
  for (const auto& communicator : plausible) {
    const double us = predicted_us(candidate, bytes, communicator, constants);
    if (!stock) {
      worst = std::min(worst, 1 / us);
      continue;
    }
    const double gain = predicted_us(*stock, bytes, communicator, constants) / us;
    const int stock_channels =
        default_channels(stock->algorithm, stock->protocol, bytes, communicator);
    if (gain < 1 && !widens(candidate, *stock, stock_channels)) return std::nullopt;
    worst = std::min(worst, gain);
    best = std::max(best, gain);
  }
  if (stock && best < WavePolicy::least_gain) return std::nullopt;
  return worst;
}

}  // namespace

std::string_view text_of(ModelReason reason) noexcept {
  return reason_texts[static_cast<std::size_t>(reason)];
}

WavePolicy::WavePolicy(const PolicyInputs& inputs) noexcept : inputs_(inputs) {
  const auto add = [&](int channels) {
    for (const auto& known : plausible())
      if (known.channels == channels) return;
    plausible_[plausible_count_++] = {inputs.ranks, channels, inputs.release, inputs.limits};
  };
  if (inputs.channels) add(*inputs.channels);
  for (const int search : plausible_search_channels)
    if (!inputs.channels) add(channels_of_communicator(search, inputs.limits, inputs.release));
}

std::optional<ModelReason> WavePolicy::objection(const Query& query,
                                                 const CostTable& table) const noexcept {
  if (inputs_.models == GpuModels::differ) return ModelReason::mixed_gpus;
  if (query.pipe_ops > 1) return ModelReason::grouped;
  if (query.bytes == 0 || query.bytes > largest_bytes) return ModelReason::outside_sizes;
  if (inputs_.nvlink == NvlinkKnowledge::present) return ModelReason::nvlink;
  const bool is_pcie_for_sure = inputs_.nvlink == NvlinkKnowledge::impossible;
  if (table.is_empty()) {
    if (inputs_.user_filter == UserFilter::set) return ModelReason::no_prices;
    return is_pcie_for_sure ? std::nullopt : std::optional(ModelReason::unknown_link);
  }
  if (is_pcie_for_sure) return std::nullopt;
  switch (link_evidence(table, query.bytes, query.ranks, query.pipe_ops).kind) {
    case LinkKind::pcie:
      return std::nullopt;
    case LinkKind::nvlink:
      return ModelReason::nvlink;
    case LinkKind::unknown:
      break;
  }
  return ModelReason::unknown_link;
}

std::optional<Choice> WavePolicy::best(const Query& query, const CostTable& table,
                                       const std::optional<Choice>& stock) const noexcept {
  const int most = plausible().back().channels;
  std::optional<Choice> winner;
  double winner_score = 0;
  for (const auto& entry : modelled_entries) {
    if (!table.is_empty() && !table.price(entry.algorithm, entry.protocol)) continue;
    if (entry.algorithm == Algorithm::tree && inputs_.switches == SwitchKnowledge::collapsing)
      continue;
    for (const int channels : candidate_channels) {
      if (channels > most) break;
      const Choice candidate{entry.algorithm, entry.protocol, channels};
      const auto value = score(candidate, stock, query.bytes, plausible());
      if (!value || (winner && *value < winner_score * tie)) continue;
      winner = candidate;
      winner_score = *value;
    }
  }
  return winner;
}

ModelVerdict WavePolicy::verdict(const Query& query, const CostTable& table) const noexcept {
  ModelVerdict verdict;
  verdict.stock = table.stock_pick();
  const Communicator& smallest = plausible().front();
  if (verdict.stock && is_modelled(verdict.stock->algorithm, verdict.stock->protocol))
    verdict.stock->channels =
        default_channels(verdict.stock->algorithm, verdict.stock->protocol, query.bytes, smallest);
  if (const auto reason = objection(query, table)) {
    verdict.reason = *reason;
    return verdict;
  }
  if (!table.is_empty() &&
      (!verdict.stock || !is_modelled(verdict.stock->algorithm, verdict.stock->protocol))) {
    verdict.reason = ModelReason::not_modelled;
    return verdict;
  }
  auto baseline = verdict.stock;
  if (baseline) baseline->channels = 0;
  verdict.choice = best(query, table, baseline);
  verdict.reason = verdict.choice ? ModelReason::faster : ModelReason::stock_is_best;
  return verdict;
}

std::optional<Decision> WavePolicy::decide(const Query& query, const CostTable& table) noexcept {
  if (query.collective != Collective::all_reduce || query.nodes != 1 || query.ranks < 2 ||
      query.ranks != inputs_.ranks)
    return std::nullopt;
  const auto choice = verdict(query, table).choice;
  if (!choice) return std::nullopt;
  return Decision{*choice, Source::model};
}

}  // namespace lanewise
