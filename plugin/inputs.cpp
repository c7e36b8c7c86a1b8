// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "inputs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/decision/policy.hpp"
#include "core/error.hpp"
#include "core/machine/machine_facts.hpp"
#include "host/nccl/nccl_environment.hpp"
#include "host/nccl/nccl_library.hpp"
#include "host/profile/profile_file.hpp"
#include "host/profile/profile_search.hpp"
#include "machine.hpp"

namespace lanewise::plugin {
namespace {

int to_int(std::size_t count) noexcept {
  constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<int>::max());
  return static_cast<int>(std::min(count, largest));
}

// A named profile of another machine is refused by match(), like one of another NCCL.
std::optional<host::FoundProfile> find_profile(const std::string& named, const Topology& topology,
                                               const NcclRelease& release) {
  if (named == host::no_profile) return std::nullopt;
  if (!named.empty()) return host::FoundProfile{named, host::read_profile(named)};
  if (topology.gpus.empty()) return std::nullopt;
  return host::find_profile({}, fingerprint(topology), host::profile_folders(), release);
}

// Positions of the ranks' GPUs, sorted; empty where one is unknown or not of this machine.
std::vector<int> find_positions(const Topology& topology, const RankGpus& gpus) {
  std::vector<int> positions;
  for (const auto& gpu : gpus) {
    const auto position = gpu ? topology.find_gpu(*gpu) : std::nullopt;
    if (!position) return {};
    positions.push_back(static_cast<int>(*position));
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

// The machine with these GPUs alone; the whole one where they are not known.
Topology select_gpus(const Topology& topology, std::vector<int> positions) {
  if (positions.empty()) return topology;
  Topology selected = topology;
  selected.gpus.clear();
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  for (const int position : positions)
    selected.gpus.push_back(topology.gpus[static_cast<std::size_t>(position)]);
  return selected;
}

void add_rules(Inputs& inputs, const std::vector<int>& positions) {
  if (!inputs.profile) return;
  const auto matched = match(*inputs.profile, {.fingerprint = fingerprint(*inputs.topology),
                                               .nccl = inputs.policy.release,
                                               .environment = inputs.environment,
                                               .ranks = inputs.policy.ranks,
                                               .gpus = positions});
  inputs.profile_refusal = matched.refusal;
  inputs.refusal_kind = matched.kind;
  inputs.most_channels = matched.most_channels;
  add_group(inputs.policy, matched);
}

}  // namespace

Identity identify(const Opening& opening) {
  const auto library = host::find_nccl_library(
      {reinterpret_cast<const void*>(opening.logger), opening.caller}, opening.releases);
  return {.ranks = to_int(opening.ranks),
          .nodes = to_int(opening.nodes),
          .release = library ? library->release : opening.releases.first};
}

Inputs gather_inputs(const Opening& opening, const host::Settings& settings,
                     const Environment& environment) {
  Inputs inputs;
  inputs.environment = environment;
  const auto identity = identify(opening);
  inputs.policy.ranks = identity.ranks;
  inputs.policy.nodes = identity.nodes;
  inputs.policy.release = identity.release;
  inputs.policy.limits = host::parse_nccl_limits(environment);
  inputs.policy.costs = opening.costs;
  inputs.policy.user_filter = host::find_user_filter(environment);
  inputs.policy.transport = host::find_transport(environment);
  const Machine& machine = machine_of_process(settings.machine);
  if (!settings.machine.empty() && !machine.fault.empty()) throw Error(machine.fault);
  inputs.machine = describe(machine);
  inputs.topology = &machine.topology;
  if (opening.ranks < 2 || opening.nodes != 1) return inputs;
  if (auto found = find_profile(settings.profile, machine.topology, inputs.policy.release)) {
    inputs.profile_file = found->path.string();
    inputs.profile = std::move(found->profile);
  }
  return inputs;
}

void complete_inputs(Inputs& inputs, const RankGpus& gpus) {
  const auto positions = find_positions(*inputs.topology, gpus);
  // Addresses say who shares; the environment, where one is missing, that it is allowed.
  const auto sharing = find_sharing(gpus);
  inputs.policy.sharing = sharing ? *sharing : host::find_gpu_sharing(inputs.environment);
  const auto topology = select_gpus(*inputs.topology, positions);
  add_machine_facts(inputs.policy, topology,
                    positions.empty() ? GpuSelection::unknown : GpuSelection::known);
  add_rules(inputs, positions);
}

}  // namespace lanewise::plugin
