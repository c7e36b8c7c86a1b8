// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "start_ranks.hpp"

#include <algorithm>

namespace lanewise::bench {

std::unique_ptr<RankGroup> open_rank_group(const Machine& machine, const RankOptions& options,
                                           const RankGroupNeeds& needs) {
  const auto plugin = needs.variables.find(plugin_variable);
  const bool has_plugin = plugin != needs.variables.end() && plugin->second != "none";
  const bool is_joined = machine.kind == RankKind::joined;
  return std::make_unique<RankGroup>(RankGroupPlan{
      .label = needs.label,
      .ranks = machine.ranks,
      .kind = machine.kind,
      .variables = needs.variables,
      .timeout = std::chrono::seconds(options.timeout_s),
      .job = machine.job,
      .opening = {
          {"max_bytes", std::max(needs.max_bytes, survey_bytes)},
          {"type", name_of(needs.type)},
          {"plugin", has_plugin ? machine.plugin : ""},
          {"inject", options.inject},
          {"collective", name_of(options.collective)},
          {"variables", is_joined ? nlohmann::json(needs.variables) : nlohmann::json::object()}}});
}

}  // namespace lanewise::bench
