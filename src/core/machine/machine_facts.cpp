// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/machine_facts.hpp"

#include <algorithm>

#include "core/machine/link_rates.hpp"
#include "core/machine/topology_facts.hpp"

namespace lanewise {
namespace {

SwitchKnowledge know_switches(const Topology& topology) {
  if (topology.gpus.empty() || is_flat(topology) || !topology.stated_paths.empty())
    return SwitchKnowledge::unknown;
  return has_collapsing_switch(topology) ? SwitchKnowledge::collapsing : SwitchKnowledge::sound;
}

// Where the ranks' GPUs are not known, models that differ say nothing of a communicator that leaves
// some GPUs out: a display's card.
GpuModels know_models(const Topology& topology, int ranks, GpuSelection selection) {
  if (topology.gpus.empty()) return GpuModels::unknown;
  if (is_homogeneous(topology)) return GpuModels::same;
  const bool is_all = topology.gpus.size() == static_cast<std::size_t>(ranks);
  return is_all || selection == GpuSelection::known ? GpuModels::differ : GpuModels::unknown;
}

}  // namespace

void add_machine_facts(PolicyInputs& inputs, const Topology& topology, GpuSelection selection) {
  inputs.nvlink = can_have_nvlink(topology) == NvlinkAbility::no ? NvlinkKnowledge::impossible
                                                                 : NvlinkKnowledge::unknown;
  inputs.switches = know_switches(topology);
  inputs.links = link_rates(topology);
  inputs.models = know_models(topology, inputs.ranks, selection);
}

std::optional<GpuSharing> find_sharing(std::vector<std::optional<PciAddress>> gpus) {
  // An unknown one comes first.
  std::sort(gpus.begin(), gpus.end());
  if (gpus.empty() || !gpus.front()) return std::nullopt;
  const bool is_shared = std::adjacent_find(gpus.begin(), gpus.end()) != gpus.end();
  return is_shared ? GpuSharing::shared : GpuSharing::one_rank_a_gpu;
}

}  // namespace lanewise
