// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "inputs.hpp"

#include <algorithm>
#include <limits>

#include "host/nccl_environment.hpp"
#include "host/nccl_library.hpp"
#include "host/profile_file.hpp"
#include "host/profile_search.hpp"
#include "lanewise/error.hpp"
#include "lanewise/topology_facts.hpp"
#include "machine.hpp"

namespace lanewise::plugin {
namespace {

int to_int(std::size_t count) noexcept {
  constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<int>::max());
  return static_cast<int>(std::min(count, largest));
}

NcclRelease find_release(const Opening& opening) {
  const auto library = host::find_nccl_library(reinterpret_cast<const void*>(opening.logger));
  return library ? library->release : opening.first_release;
}

// Never `present`: a user may have switched NVLink off, and the prices show what NCCL uses.
NvlinkKnowledge know_nvlink(const Topology& topology) {
  return can_have_nvlink(topology) == NvlinkAbility::no ? NvlinkKnowledge::impossible
                                                        : NvlinkKnowledge::unknown;
}

SwitchKnowledge know_switches(const Topology& topology) {
  if (topology.gpus.empty() || is_flat(topology)) return SwitchKnowledge::unknown;
  return has_collapsing_switch(topology) ? SwitchKnowledge::collapsing : SwitchKnowledge::sound;
}

// Models that differ say nothing of a communicator that leaves some GPUs out: a display's card.
GpuModels know_models(const Topology& topology, int ranks) {
  if (topology.gpus.empty()) return GpuModels::unknown;
  if (is_homogeneous(topology)) return GpuModels::same;
  return topology.gpus.size() == static_cast<std::size_t>(ranks) ? GpuModels::differ
                                                                 : GpuModels::unknown;
}

// A named profile of another machine is refused by match(), like one of another NCCL.
std::optional<host::FoundProfile> find_profile(const std::string& named, const Topology& topology) {
  if (!named.empty()) return host::FoundProfile{named, host::read_profile(named)};
  if (topology.gpus.empty()) return std::nullopt;
  return host::find_profile({}, fingerprint(topology), host::profile_folders());
}

void add_profile(Inputs& inputs, const std::string& named, const Topology& topology,
                 const Environment& environment) {
  const auto found = find_profile(named, topology);
  if (!found) return;
  inputs.profile_file = found->path.string();
  const auto matched = match(found->profile, {.fingerprint = fingerprint(topology),
                                              .nccl = inputs.policy.release,
                                              .environment = environment,
                                              .ranks = inputs.policy.ranks,
                                              .gpus = {}});
  inputs.profile_refusal = matched.refusal;
  if (matched.group == nullptr) return;
  MeasuredGroup group;
  group.rules = matched.group->rules;
  group.ll128 = matched.group->is_ll128_verified ? Ll128Evidence::soaked : Ll128Evidence::none;
  inputs.policy.profile = group;
}

}  // namespace

Inputs gather_inputs(const Opening& opening, const host::Settings& settings,
                     const Environment& environment) {
  Inputs inputs;
  inputs.policy.ranks = to_int(opening.ranks);
  inputs.policy.nodes = to_int(opening.nodes);
  inputs.policy.release = find_release(opening);
  inputs.policy.limits = host::parse_nccl_limits(environment);
  inputs.policy.prices = opening.prices;
  inputs.policy.user_filter = host::find_user_filter(environment);
  const Machine& machine = machine_of_process(settings.machine);
  if (!settings.machine.empty() && !machine.fault.empty()) throw Error(machine.fault);
  inputs.machine = describe(machine);
  inputs.policy.nvlink = know_nvlink(machine.topology);
  inputs.policy.switches = know_switches(machine.topology);
  inputs.policy.models = know_models(machine.topology, inputs.policy.ranks);
  if (opening.ranks >= 2 && opening.nodes == 1) {
    add_profile(inputs, settings.profile, machine.topology, environment);
  }
  return inputs;
}

}  // namespace lanewise::plugin
