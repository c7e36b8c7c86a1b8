// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/wave_policy.hpp"

#include <algorithm>
#include <cmath>

#include "core/profile/base_environment.hpp"

namespace lanewise {
namespace {

// What NCCL's search finds on PCIe machines: one ring or two (fixtures/stock_tables).
constexpr std::array plausible_search_channels = {1, 2};
// Channel counts worth asking for; more than the communicator has is left out.
constexpr std::array candidate_channels = {1, 2, 4, 8, 16, 32, 64};
// Predictions this near, in logarithms, are equal: fewer channels win then.
constexpr double tie = 0.001;
// The same between channel counts with a fit: the logarithm of WavePolicy::least_fitted_gain.
constexpr double channels_tie = 0.077;

constexpr std::array<std::string_view, 9> reason_texts = {
    "predicted faster than NCCL's choice",
    "nothing is sure to gain enough over NCCL's choice",
    "NVLink: the model is for PCIe",
    "the costs do not tell PCIe from NVLink",
    "NCCL's choice is outside the model",
    "larger than the model's data",
    "several operations in one group",
    "GPU models differ",
    "NCCL shows no costs and NCCL_ALGO or NCCL_PROTO is set",
};

// Without costs nothing tells which of these NCCL is about to take: a candidate must beat both.
// Tree is never NCCL 2.21's cheapest over PCIe.
constexpr std::array assumed_picks = {Choice{Algorithm::ring, Protocol::ll, 0},
                                      Choice{Algorithm::ring, Protocol::simple, 0}};

struct Entry {
  Algorithm algorithm;
  Protocol protocol;
};
constexpr std::array modelled_entries = {
    Entry{Algorithm::tree, Protocol::ll}, Entry{Algorithm::tree, Protocol::simple},
    Entry{Algorithm::ring, Protocol::ll}, Entry{Algorithm::ring, Protocol::simple}};

bool is_same_way(const Choice& a, const Choice& b) noexcept {
  return a.algorithm == b.algorithm && a.protocol == b.protocol;
}

// What NCCL's pick takes in one plausible communicator on one plausible machine; of several
// possible picks the fastest and the slowest.
struct Baseline {
  double least_us = INFINITY;
  double most_us = 0;
};

Baseline baseline_of(std::span<const Choice> picks, std::size_t bytes,
                     const Communicator& communicator, const MachineModel& machine,
                     const LatencyConstants& constants) noexcept {
  Baseline baseline;
  for (const Choice& pick : picks) {
    const double us = predict(terms_of(pick, constants), pick, bytes, communicator.ranks,
                              launch_of(pick, bytes, communicator), machine)
                          .total_us();
    baseline.least_us = std::min(baseline.least_us, us);
    baseline.most_us = std::max(baseline.most_us, us);
  }
  return baseline;
}

// LL and Simple differ by bandwidths that vary by machine far more than latencies do, and Tree and
// Ring by hops that vary with who shares a GPU: such a switch must win a larger margin in every
// plausible communicator on every plausible machine.
double margin(const Choice& candidate, const std::optional<Choice>& stock,
              std::size_t bytes) noexcept {
  if (candidate.protocol == Protocol::simple) return WavePolicy::least_clear_gain;
  if (stock && stock->protocol == Protocol::simple && bytes > WavePolicy::largest_easy_ll)
    return WavePolicy::least_gain_of_large_ll;
  const auto usual = stock ? stock->algorithm : Algorithm::ring;
  return candidate.algorithm == usual ? 1.0 : WavePolicy::least_clear_gain;
}

}  // namespace

// One decision's numbers; lives on the stack.
struct WavePolicy::Comparison {
  std::size_t bytes = 0;
  std::optional<Choice> stock;  // none where NCCL does not show what it takes
  PlausibleMachines machines;
  std::array<std::array<Baseline, PlausibleMachines::most>, 2> stock_us{};  // by communicator
  const LatencyConstants& constants;
  bool has_fit = false;
  bool is_ring_guarded = false;
};

std::string_view text_of(ModelReason reason) noexcept {
  return reason_texts[static_cast<std::size_t>(reason)];
}

WavePolicy::WavePolicy(const PolicyInputs& inputs)
    : inputs_(inputs), stock_limits_(stock_limits(inputs.limits, inputs.ranks)) {
  const auto add = [&](int channels) {
    for (const auto& known : plausible())
      if (known.channels == channels) return;
    plausible_[plausible_count_++] = {inputs.ranks, channels, inputs.release, inputs.limits,
                                      inputs.sharing};
  };
  const auto known = inputs.fit ? inputs.fit->channels : inputs.channels;
  if (known) add(*known);
  for (const int search : plausible_search_channels)
    if (!known) add(channels_of_communicator(search, inputs.limits, inputs.release));
}

std::optional<ModelReason> WavePolicy::objection(const Query& query,
                                                 const CostTable& table) const noexcept {
  if (inputs_.models == GpuModels::differ) return ModelReason::mixed_gpus;
  if (query.pipe_ops > 1) return ModelReason::grouped;
  if (query.bytes == 0 || query.bytes > largest_bytes) return ModelReason::outside_sizes;
  const bool has_no_nvlink = inputs_.nvlink == NvlinkKnowledge::impossible;
  if (table.is_empty()) {
    if (inputs_.user_filter == UserFilter::set) return ModelReason::no_costs;
    return has_no_nvlink ? std::nullopt : std::optional(ModelReason::unknown_link);
  }
  // The costs come from the links NCCL found, the inputs from a list of models: costs win. NCCL
  // costs LL128 over NVLink, and over PCIe only where NCCL_PROTO asks for it.
  if (inputs_.user_filter == UserFilter::none && table.cost(Algorithm::ring, Protocol::ll128))
    return ModelReason::nvlink;
  switch (link_evidence(table, query.bytes, query.ranks, query.pipe_ops).kind) {
    case LinkKind::pcie:
      return std::nullopt;
    case LinkKind::nvlink:
      return ModelReason::nvlink;
    case LinkKind::unknown:
      break;
  }
  return has_no_nvlink ? std::nullopt : std::optional(ModelReason::unknown_link);
}

Communicator WavePolicy::as_stock(const Communicator& communicator) const noexcept {
  Communicator stock = communicator;
  stock.limits = stock_limits_;
  return stock;
}

PlausibleMachines WavePolicy::plausible_machines(const Query& query,
                                                 const CostTable& table) const noexcept {
  if (has_fit(query.bytes)) return PlausibleMachines(fitted_machine);
  const auto evidence = link_evidence(table, query.bytes, query.ranks, query.pipe_ops);
  return {inputs_.links, inputs_.transport,
          is_absurd(evidence) ? std::nullopt : evidence.bus_bandwidth};
}

WavePolicy::Comparison WavePolicy::compare(const std::optional<Choice>& stock, const Query& query,
                                           const CostTable& table) const noexcept {
  Comparison comparison{query.bytes,
                        stock,
                        plausible_machines(query, table),
                        {},
                        constants(query.bytes),
                        has_fit(query.bytes),
                        is_ring_guarded(table, query.ranks, query.pipe_ops)};
  std::array<Choice, 1> known{};
  if (stock) known[0] = {stock->algorithm, stock->protocol, 0};
  const auto picks = stock ? std::span<const Choice>(known) : std::span(assumed_picks);
  const auto machines = comparison.machines.machines();
  for (std::size_t i = 0; i < plausible_count_; ++i) {
    const Communicator communicator = as_stock(plausible_[i]);
    for (std::size_t k = 0; k < machines.size(); ++k)
      comparison.stock_us[i][k] =
          baseline_of(picks, query.bytes, communicator, machines[k], comparison.constants);
  }
  return comparison;
}

bool WavePolicy::saves_waves(const Choice& candidate, const Launch& launch,
                             const Comparison& comparison,
                             const Communicator& communicator) const noexcept {
  if (!comparison.stock || !is_same_way(*comparison.stock, candidate)) return true;
  const Choice stock{candidate.algorithm, candidate.protocol, 0};
  return launch.waves < launch_of(stock, comparison.bytes, as_stock(communicator)).waves;
}

std::optional<double> WavePolicy::score(const Choice& candidate,
                                        const Comparison& comparison) const noexcept {
  const auto machines = comparison.machines.machines();
  const double least_anywhere = comparison.has_fit
                                    ? least_fitted_gain
                                    : margin(candidate, comparison.stock, comparison.bytes);
  double product = 1;
  double least = INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < plausible_count_; ++i) {
    const Launch launch = launch_of(candidate, comparison.bytes, plausible_[i]);
    if (comparison.has_fit && !saves_waves(candidate, launch, comparison, plausible_[i]))
      return std::nullopt;
    for (std::size_t k = 0; k < machines.size(); ++k) {
      const double us = predict(terms_of(candidate, comparison.constants), candidate,
                                comparison.bytes, inputs_.ranks, launch, machines[k])
                            .total_us();
      const Baseline& stock = comparison.stock_us[i][k];
      const double gain = stock.least_us / us;
      if (gain < 1) return std::nullopt;
      if (k > 0) continue;
      product *= gain;
      least = std::min(least, gain);
      most = std::max(most,
                      (comparison.bytes > largest_easy_ll ? stock.least_us : stock.most_us) / us);
    }
  }
  if (least < least_anywhere || most < (comparison.has_fit ? least_fitted_gain : least_gain))
    return std::nullopt;
  return std::log(product) / static_cast<double>(plausible_count_);
}

std::optional<Choice> WavePolicy::best(const Comparison& comparison,
                                       const CostTable& table) const noexcept {
  const int most = plausible().back().channels;
  const bool has_tree = inputs_.switches != SwitchKnowledge::collapsing &&
                        comparison.bytes <= comparison.constants.largest_tree_bytes;
  const bool has_ring = !comparison.is_ring_guarded;
  std::optional<Choice> winner;
  double winner_score = 0;
  for (const auto& entry : modelled_entries) {
    if (!table.is_empty() && !table.cost(entry.algorithm, entry.protocol)) continue;
    if (entry.algorithm == Algorithm::tree ? !has_tree : !has_ring) continue;
    for (const int channels : candidate_channels) {
      if (channels > most) break;
      const Choice candidate{entry.algorithm, entry.protocol, channels};
      const auto value = score(candidate, comparison);
      const double needed =
          comparison.has_fit && winner && is_same_way(*winner, candidate) ? channels_tie : tie;
      if (!value || (winner && *value < winner_score + needed)) continue;
      winner = candidate;
      winner_score = *value;
    }
  }
  return winner;
}

ModelVerdict WavePolicy::verdict(const Query& query, const CostTable& table) const noexcept {
  ModelVerdict verdict;
  verdict.stock = table.stock_pick();
  const Communicator smallest = as_stock(plausible().front());
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
  verdict.choice = best(compare(verdict.stock, query, table), table);
  verdict.reason = verdict.choice ? ModelReason::faster : ModelReason::stock_is_best;
  return verdict;
}

}  // namespace lanewise
