// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/decision/policy.hpp"

namespace lanewise {

Policy::Policy(const PolicyInputs& inputs) : inputs_(inputs), model_(inputs) {}

std::optional<Decision> Policy::measured(const Query& query,
                                         const CostTable& table) const noexcept {
  if (!inputs_.profile) return std::nullopt;
  const MeasuredGroup& group = *inputs_.profile;
  const Rule* rule = group.rules.find(query.bytes);
  if (rule == nullptr) return std::nullopt;
  const Choice& choice = rule->choice;
  if (choice.channels < 0 || choice.channels > inputs_.release.max_channels()) return std::nullopt;
  const bool is_ll128 = choice.protocol == Protocol::ll128;
  if (is_ll128 && (group.ll128 != Ll128Evidence::soaked || table.is_empty())) return std::nullopt;
  if (!table.is_empty() && !table.cost(choice.algorithm, choice.protocol)) return std::nullopt;
  if (choice.algorithm == Algorithm::ring && is_ring_guarded(table, query.ranks, query.pipe_ops))
    return std::nullopt;
  const bool is_nvlink =
      link_evidence(table, query.bytes, query.ranks, query.pipe_ops).kind == LinkKind::nvlink;
  if (is_nvlink && group.link != LinkKind::nvlink) return std::nullopt;
  return Decision{choice, Source::profile};
}

std::optional<Decision> Policy::decide(const Query& query, const CostTable& table) const noexcept {
  if (query.collective != Collective::all_reduce || query.nodes != 1 || query.ranks < 2 ||
      query.ranks != inputs_.ranks || query.pipe_ops < 0)
    return std::nullopt;
  if (const auto rule = measured(query, table)) return rule;
  if (inputs_.profile && inputs_.profile->rules.keeps_stock(query.bytes)) return std::nullopt;
  const auto choice = model_.verdict(query, table).choice;
  if (!choice || (inputs_.profile && is_unsafe(inputs_.profile->unsafe, *choice)))
    return std::nullopt;
  return Decision{*choice, Source::model};
}

void add_group(PolicyInputs& inputs, const ProfileMatch& match) {
  if (match.group == nullptr) return;
  const GpuGroup& group = *match.group;
  const auto ll128 = group.is_ll128_verified ? Ll128Evidence::soaked : Ll128Evidence::none;
  inputs.profile = MeasuredGroup{usable_rules(match), ll128, group.link, group.unsafe};
  // With other limits the communicator has other channels than those that were fitted.
  if (!match.most_channels) inputs.fit = group.fit;
}

std::optional<std::string_view> inert_reason(const PolicyInputs& inputs) noexcept {
  if (inputs.ranks < 2) return "one rank";
  if (inputs.nodes > 1) return "more than one node";
  if (inputs.profile) return std::nullopt;
  if (inputs.models == GpuModels::differ) return text_of(ModelReason::mixed_gpus);
  if (inputs.costs == CostTableAccess::with_table) return std::nullopt;
  if (inputs.user_filter == UserFilter::set) return text_of(ModelReason::no_costs);
  if (inputs.nvlink == NvlinkKnowledge::unknown)
    return "NCCL shows no costs and the GPUs may have NVLink";
  return std::nullopt;
}

}  // namespace lanewise
