// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "explain_scene.hpp"

#include <utility>

#include "core/decision/policy.hpp"
#include "core/error.hpp"
#include "core/machine/machine_facts.hpp"
#include "core/machine/topology_facts.hpp"
#include "core/nccl/known_releases.hpp"
#include "core/profile/base_environment.hpp"
#include "explain_gpus.hpp"
#include "host/machine/topology_source.hpp"
#include "host/nccl/nccl_conf.hpp"
#include "host/nccl/nccl_environment.hpp"
#include "host/nccl/plugin_library.hpp"
#include "machine.hpp"

namespace lanewise::cli {
namespace {

// Before it a tuner is not shown costs.
constexpr NcclRelease first_release_with_costs = {2, 22, 0};
// Before it NCCL knows no env plugin.
constexpr NcclRelease first_release_with_env_plugin = {2, 28, 7};
constexpr int assumed_compute_capability = 120;

NcclRelease release_of(const ExplainOptions& options, const ExplainScene& scene) {
  if (options.nccl.empty()) return scene.table ? scene.table->nccl : assumed_release;
  const auto release = parse_nccl_release(options.nccl);
  if (!release) throw Error("--nccl " + options.nccl + ": expected a version, as 2.30.7");
  if (const auto fault = describe_unknown_release(*release))
    throw Error("--nccl " + options.nccl + ": " + *fault);
  return *release;
}

// A table of another machine says nothing of this one.
void choose_machine(ExplainScene& scene, const ExplainOptions& options) {
  const bool is_named = !named_machine(options.machine, scene.settings).empty();
  if (!is_named && !options.table.empty()) return;
  scene.topology = read_machine(options.machine, scene.settings);
  scene.is_bundled = !is_named && scene.topology.gpus.empty();
  if (scene.is_bundled) scene.topology = host::bundled_topology();
}

int lowest_compute_capability(const Topology& topology) {
  int lowest = 0;
  for (const auto& gpu : topology.gpus)
    if (gpu.compute_capability > 0 && (lowest == 0 || gpu.compute_capability < lowest))
      lowest = gpu.compute_capability;
  return lowest == 0 ? assumed_compute_capability : lowest;
}

void estimate_costs(ExplainScene& scene) {
  CostModelInputs& estimated = scene.estimated;
  estimated.ranks = scene.here.inputs.ranks;
  estimated.release = scene.here.inputs.release;
  estimated.compute_capability = lowest_compute_capability(scene.used);
  estimated.link = scene.used.has_nvlink() ? LinkKind::nvlink : LinkKind::pcie;
  scene.peer_access = host::find_peer_access(scene.own, scene.used);
  estimated.ring = estimated.tree = estimate_search(scene.used, estimated.compute_capability,
                                                    scene.peer_access, estimated.release);
}

// A tuner before 2.28 is not told which of the machine's GPUs its ranks have.
void add_facts(ExplainScene& scene) {
  const bool is_told = scene.here.inputs.release >= first_release_with_gpus;
  add_machine_facts(scene.here.inputs, is_told ? scene.used : scene.topology,
                    is_told ? GpuSelection::known : GpuSelection::unknown);
}

// Under the conditions on which the plugin's own layers act.
EnvironmentCarrier find_carrier(const ExplainScene& scene) {
  if (scene.settings.mode == host::Mode::off) return EnvironmentCarrier::nobody;
  const auto names_us = [&](const char* name) {
    const auto own = scene.own.find(name);
    return own != scene.own.end() && names_plugin(own->second) &&
           host::check_plugin_path(own->second, "").is_there;
  };
  if (scene.here.inputs.release >= first_release_with_env_plugin && names_us("NCCL_ENV_PLUGIN"))
    return EnvironmentCarrier::env_plugin;
  if (scene.settings.environment_change == host::EnvironmentChange::allowed &&
      names_us("NCCL_NET_PLUGIN"))
    return EnvironmentCarrier::net_plugin;
  return EnvironmentCarrier::nobody;
}

// Of `lanewise run`, which does not know the release, or of the carrier, which does.
LaunchRequest request_of(const ExplainScene& scene) {
  LaunchRequest request;
  request.own = scene.own;
  if (scene.settings.mode != host::Mode::apply) request.environment = EnvironmentUse::leave;
  const bool is_carried = scene.carrier != EnvironmentCarrier::nobody;
  if (is_carried) request.release = scene.here.inputs.release;
  if (scene.found && (!is_carried || scene.found->profile.nccl == scene.here.inputs.release))
    request.profile = &scene.found->profile;
  return request;
}

// A profile that the user asked for. A table alone may be explained whatever the setting says.
std::string asked_profile(const ExplainScene& scene, const ExplainOptions& options) {
  if (options.profile == host::no_profile) return "";
  if (!options.profile.empty()) return "--profile " + options.profile;
  const std::string& setting = scene.settings.profile;
  const bool is_asked = scene.is_bundled && !setting.empty() && setting != host::no_profile;
  return is_asked ? "LANEWISE_PROFILE=" + setting : "";
}

void find_profile(ExplainScene& scene, const ExplainOptions& options) {
  const std::string& named = options.profile.empty() ? scene.settings.profile : options.profile;
  if (scene.topology.gpus.empty() || scene.is_bundled) {
    const auto asked = asked_profile(scene, options);
    if (asked.empty()) return;
    throw Error(asked + ": expected --machine FILE, to compare it with");
  }
  scene.found = host::find_profile(named, fingerprint(scene.topology), host::profile_folders(),
                                   scene.here.inputs.release);
}

// The env plugin answers a communicator with a base environment of its own, as the plugin does.
void add_carried(ExplainScene& scene, const LaunchPlan& plan) {
  const auto& inputs = scene.here.inputs;
  if (plan.has_base_environment && scene.carrier == EnvironmentCarrier::env_plugin &&
      has_base_of_each_communicator(inputs.release))
    scene.seen.merge(base_environment(inputs.release, inputs.ranks));
  for (const auto& variable : plan.variables) scene.seen.emplace(variable.name, variable.value);
}

void find_environments(ExplainScene& scene, const ExplainOptions& options) {
  find_profile(scene, options);
  scene.carrier = find_carrier(scene);
  const auto request = request_of(scene);
  scene.seen = scene.own;
  if (scene.carrier != EnvironmentCarrier::nobody) add_carried(scene, plan_launch(request));
  if (scene.found) scene.standing = find_standing(scene.found->profile, request, scene.carrier);
}

// What NCCL has: as told, else twice what its search found under the limits there.
Communicator communicator_of(const ExplainScene& scene, const PolicyInputs& inputs,
                             const std::optional<int>& told) {
  const int searched = scene.table && scene.table->search_channels ? *scene.table->search_channels
                                                                   : scene.estimated.ring.channels;
  const int channels =
      told.value_or(channels_of_communicator(searched, inputs.limits, inputs.release));
  const auto& ring = scene.estimated.ring;
  const double ring_gbs = scene.table ? 0 : ring.channels * ring.channel_bandwidth;
  return {inputs.ranks, channels, inputs.release, inputs.limits, inputs.sharing, ring_gbs};
}

ExplainLayer make_layer(const ExplainScene& scene, const Environment& environment,
                        const std::optional<int>& channels) {
  ExplainLayer layer;
  PolicyInputs& inputs = layer.inputs = scene.here.inputs;
  inputs.limits = host::parse_nccl_limits(environment);
  inputs.user_filter = host::find_user_filter(environment);
  layer.filter = host::find_cost_filter(environment, inputs.release);
  inputs.transport = host::find_transport(environment);
  layer.communicator = communicator_of(scene, inputs, channels);
  if (!scene.found) return layer;
  const auto matched = match(scene.found->profile, {.fingerprint = fingerprint(scene.topology),
                                                    .nccl = inputs.release,
                                                    .environment = environment,
                                                    .ranks = inputs.ranks,
                                                    .gpus = scene.gpus});
  layer.refusal = matched.refusal;
  add_group(inputs, matched);
  return layer;
}

void add_layers(ExplainScene& scene, const ExplainOptions& options) {
  scene.here = make_layer(scene, scene.seen, options.channels);
  if (!scene.standing || scene.standing->best == nullptr) return;
  if (scene.standing->best == scene.standing->in_force) return;
  const auto replaced = replace_environment(scene.seen, *scene.standing->best);
  // The channels that were told are those under the limits here.
  const bool are_alike = host::parse_nccl_limits(replaced) == scene.here.inputs.limits;
  scene.with_best =
      make_layer(scene, replaced, are_alike ? options.channels : std::optional<int>());
}

}  // namespace

void set_up(ExplainScene& scene, const ExplainOptions& options) {
  scene.own = host::read_process_environment();
  // NCCL sets what its configuration files hold before it loads the plugin.
  scene.own.merge(host::read_nccl_conf(scene.own));
  scene.settings = host::parse_settings(scene.own);
  if (!options.table.empty()) scene.table = host::read_cost_table(options.table);
  choose_machine(scene, options);
  PolicyInputs& inputs = scene.here.inputs;
  inputs.release = release_of(options, scene);
  choose_gpus(scene, options);
  if (inputs.release < first_release_with_costs) inputs.costs = CostTableAccess::without_table;
  inputs.sharing = scene.topology.gpus.empty()
                       ? host::find_gpu_sharing(scene.own)
                       : sharing_of(inputs.ranks, static_cast<int>(scene.used.gpus.size()));
  inputs.nodes = count_hosts(scene.used);
  add_facts(scene);
  estimate_costs(scene);
  find_environments(scene, options);
  add_layers(scene, options);
}

}  // namespace lanewise::cli
