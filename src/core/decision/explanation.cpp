// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include "core/decision/policy.hpp"
#include "core/decision/wave_policy.hpp"
#include "core/model/latency.hpp"
#include "core/profile/base_environment.hpp"

namespace lanewise {
namespace {

struct Scene {
  std::size_t bytes = 0;
  Communicator communicator;
  std::span<const MachineModel> machines;  // the likeliest first
  const LatencyConstants& constants;
};

Prediction predict(const Choice& choice, const Scene& scene, const MachineModel& machine) {
  return predict(terms_of(choice, scene.constants), choice, scene.bytes, scene.communicator.ranks,
                 launch_of(choice, scene.bytes, scene.communicator), machine);
}

ExplainedChoice describe(const Choice& choice, const Scene& scene) {
  ExplainedChoice described{choice, {}, {}, {}};
  if (!is_modelled(choice.algorithm, choice.protocol)) return described;
  const Launch launch = launch_of(choice, scene.bytes, scene.communicator);
  described.choice.channels = launch.channels;
  described.waves = launch.waves;
  described.predicted_us = predict(choice, scene, scene.machines.front()).total_us();
  Interval interval{INFINITY, 0};
  for (const auto& machine : scene.machines) {
    const auto prediction = predict(choice, scene, machine);
    const double us = prediction.total_us();
    interval.low = std::min(interval.low, std::max(us * (1 - fit_error), prediction.wire_us));
    interval.high = std::max(interval.high, us * (1 + fit_error));
  }
  described.interval_us = interval;
  return described;
}

std::optional<Interval> gain_of(const Choice& stock, const Scene& as_stock, const Choice& chosen,
                                const Scene& scene) {
  for (const Choice& choice : {stock, chosen})
    if (!is_modelled(choice.algorithm, choice.protocol)) return std::nullopt;
  Interval gain{INFINITY, 0};
  for (const auto& machine : scene.machines) {
    const double one =
        predict(stock, as_stock, machine).total_us() / predict(chosen, scene, machine).total_us();
    gain.low = std::min(gain.low, one);
    gain.high = std::max(gain.high, one);
  }
  return gain;
}

std::string waves_of(int count) {
  return std::to_string(count) + (count == 1 ? " wave" : " waves");
}

std::string reason_of_model(const ExplainedChoice& stock, const ExplainedChoice& chosen) {
  const bool is_same_way = stock.choice.algorithm == chosen.choice.algorithm &&
                           stock.choice.protocol == chosen.choice.protocol;
  if (is_same_way && stock.waves && chosen.waves && *chosen.waves < *stock.waves)
    return waves_of(*chosen.waves) + " instead of " + std::to_string(*stock.waves);
  if (is_same_way) return "shorter pieces on more channels";
  if (chosen.choice.protocol == Protocol::simple) return "large enough for Simple's bandwidth";
  if (stock.choice.protocol == Protocol::simple) return "LL has far less latency at this size";
  if (chosen.choice.algorithm == Algorithm::tree && stock.waves && *stock.waves > 1)
    return "Tree does not pay ring's " + waves_of(*stock.waves) + " in every hop";
  return "less latency in every hop";
}

// The model answers for all communicators that it cannot tell apart; this one may gain nothing.
std::string reason_of_no_gain(const ExplainedChoice& stock, const Choice& asked,
                              const ExplainedChoice& chosen) {
  if (chosen.choice == stock.choice) return "NCCL takes the same by itself";
  return "Lanewise asks for " + to_string(asked) + ", which gains nothing on these channels";
}

std::string reason_of_rule(const Rule* rule) {
  if (rule == nullptr) return "measured";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "measured %.2fx, 95 %% interval %.2f to %.2f",
                rule->speedup, rule->ci95_low, rule->ci95_high);
  return text.data();
}

std::string reason_of_silence(const PolicyInputs& inputs, const Query& query,
                              const CostTable& table) {
  if (const auto reason = inert_reason(inputs)) return std::string(*reason);
  if (inputs.profile && inputs.profile->rules.keeps_stock(query.bytes))
    return "measured: nothing beats NCCL's choice";
  return std::string(text_of(WavePolicy(inputs).verdict(query, table).reason));
}

}  // namespace

Explanation explain(const PolicyInputs& inputs, const Query& query, const CostTable& table,
                    const Communicator& communicator) {
  const CostTable shown = inputs.costs == CostTableAccess::with_table ? table : CostTable();
  const WavePolicy model(inputs);
  const auto machines = model.plausible_machines(query, shown);
  const Scene scene{query.bytes, communicator, machines.machines(), model.constants(query.bytes)};
  Scene as_stock = scene;
  as_stock.communicator.limits = stock_limits(communicator.limits, communicator.ranks);
  const auto pick = table.stock_pick();
  Explanation explanation;
  explanation.has_absurd_costs =
      is_absurd(link_evidence(shown, query.bytes, query.ranks, query.pipe_ops));
  if (pick) explanation.stock = describe(*pick, as_stock);
  const auto decision = Policy(inputs).decide(query, shown);
  if (!decision) {
    explanation.reason = reason_of_silence(inputs, query, shown);
    return explanation;
  }
  const auto chosen = describe(decision->choice, scene);
  const auto gain = pick ? gain_of(*pick, as_stock, decision->choice, scene) : std::nullopt;
  if (decision->source == Source::model && gain &&
      (gain->low < 1 || chosen.choice == explanation.stock->choice)) {
    explanation.reason = reason_of_no_gain(*explanation.stock, decision->choice, chosen);
    return explanation;
  }
  explanation.source = decision->source;
  explanation.chosen = chosen;
  explanation.gain = gain;
  if (decision->source == Source::profile)
    explanation.reason = reason_of_rule(inputs.profile->rules.find(query.bytes));
  else if (explanation.stock)
    explanation.reason = reason_of_model(*explanation.stock, *explanation.chosen);
  return explanation;
}

}  // namespace lanewise
