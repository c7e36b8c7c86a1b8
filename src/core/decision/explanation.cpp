// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/explanation.hpp"

#include <array>
#include <cstdio>

#include "core/decision/composite_policy.hpp"
#include "core/model/latency.hpp"
#include "core/profile/base_environment.hpp"

namespace lanewise {
namespace {

ExplainedChoice describe(const Choice& choice, std::size_t bytes,
                         const Communicator& communicator) {
  ExplainedChoice described{choice, {}, {}};
  if (!is_modelled(choice.algorithm, choice.protocol)) return described;
  const Launch launch = launch_of(choice, bytes, communicator);
  described.choice.channels = launch.channels;
  described.waves = launch.waves;
  described.predicted_us = predicted_us(choice, bytes, communicator);
  return described;
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
  Explanation explanation;
  Communicator as_stock = communicator;
  as_stock.limits = stock_limits(communicator.limits, communicator.ranks);
  if (const auto pick = table.stock_pick())
    explanation.stock = describe(*pick, query.bytes, as_stock);
  const CostTable shown = inputs.costs == CostTableAccess::with_table ? table : CostTable();
  const auto decision = CompositePolicy(inputs).decide(query, shown);
  if (!decision) {
    explanation.reason = reason_of_silence(inputs, query, shown);
    return explanation;
  }
  explanation.source = decision->source;
  explanation.chosen = describe(decision->choice, query.bytes, communicator);
  if (decision->source == Source::profile)
    explanation.reason = reason_of_rule(inputs.profile->rules.find(query.bytes));
  else if (explanation.stock)
    explanation.reason = reason_of_model(*explanation.stock, *explanation.chosen);
  explanation.has_absurd_costs =
      is_absurd(link_evidence(shown, query.bytes, query.ranks, query.pipe_ops));
  return explanation;
}

}  // namespace lanewise
