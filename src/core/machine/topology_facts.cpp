// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/topology_facts.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace lanewise {

namespace {

constexpr std::uint16_t nvidia_vendor = 0x10de;
constexpr std::uint16_t broadcom_vendor = 0x1000;
// PEX89000, PEX89024, ... PEX89144 share 0xc030 and differ in the last digit.
constexpr std::uint16_t pex890xx_device = 0xc030;
constexpr std::uint16_t pex890xx_mask = 0xfff0;

bool is_pex890xx(const Bridge& bridge) noexcept {
  return bridge.vendor == broadcom_vendor && (bridge.device & pex890xx_mask) == pex890xx_device;
}

// The GPUs below each bridge, at any depth.
std::vector<std::vector<std::size_t>> gpus_below(const Topology& topology) {
  std::vector<std::vector<std::size_t>> below(topology.bridges.size());
  for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    auto above = topology.gpus[gpu].bridge;
    // No chain is longer than the list: a cycle in a hand-made topology ends here.
    for (std::size_t hops = 0; above && *above < below.size() && hops < below.size(); ++hops) {
      if (below[*above].empty() || below[*above].back() != gpu) below[*above].push_back(gpu);
      above = topology.bridges[*above].parent;
    }
  }
  return below;
}

std::optional<double> oversubscription_of(const Topology& topology, const SharedUplink& uplink) {
  const double up = topology.bridges[uplink.bridge].link.gigabytes_per_second();
  double down = 0;
  for (const auto index : uplink.gpus) {
    const Gpu& gpu = topology.gpus[index];
    const auto& link = gpu.slot.is_known() ? gpu.slot : gpu.link;
    if (!link.is_known()) return std::nullopt;
    down += link.gigabytes_per_second();
  }
  if (up <= 0) return std::nullopt;
  return down / up;
}

}  // namespace

NvlinkAbility can_have_nvlink(const Gpu& gpu) noexcept {
  if (gpu.nvlinks > 0) return NvlinkAbility::yes;
  return find_nvlink_ability(gpu.vendor, gpu.device);
}

NvlinkAbility can_have_nvlink(const Topology& topology) noexcept {
  if (topology.has_nvlink()) return NvlinkAbility::yes;
  if (topology.gpus.empty()) return NvlinkAbility::unknown;
  auto answer = NvlinkAbility::no;
  for (const auto& gpu : topology.gpus) {
    const auto ability = can_have_nvlink(gpu);
    if (ability == NvlinkAbility::yes) return ability;
    if (ability == NvlinkAbility::unknown) answer = ability;
  }
  return answer;
}

bool has_peer_access(const Topology& topology) noexcept {
  return std::ranges::none_of(topology.gpus, [](const Gpu& gpu) {
    const auto model = find_gpu_model(gpu.device);
    return gpu.vendor == nvidia_vendor && model && model->name.starts_with("GeForce");
  });
}

std::vector<SharedUplink> shared_uplinks(const Topology& topology) {
  std::vector<SharedUplink> uplinks;
  auto below = gpus_below(topology);
  for (std::size_t bridge = 0; bridge < topology.bridges.size(); ++bridge) {
    if (below[bridge].size() < 2) continue;
    SharedUplink uplink{.bridge = bridge, .gpus = std::move(below[bridge])};
    uplink.oversubscription = oversubscription_of(topology, uplink);
    uplinks.push_back(std::move(uplink));
  }
  return uplinks;
}

bool has_collapsing_switch(const Topology& topology) noexcept {
  int crowded = 0;
  for (std::size_t index = 0; index < topology.bridges.size(); ++index) {
    if (!is_pex890xx(topology.bridges[index])) continue;
    const auto gpus =
        std::ranges::count_if(topology.gpus, [&](const Gpu& gpu) { return gpu.bridge == index; });
    if (gpus >= 2) ++crowded;
  }
  return crowded >= 2;
}

bool is_flat(const Topology& topology) noexcept {
  if (!topology.stated_paths.empty()) return false;
  for (const auto& one : topology.gpus) {
    for (const auto& other : topology.gpus) {
      if (!one.bridge && !other.bridge && one.address.device != other.address.device &&
          one.address.domain == other.address.domain && one.address.bus == other.address.bus)
        return true;
    }
  }
  return false;
}

int count_hosts(const Topology& topology) {
  std::set<int> hosts;
  for (const auto& gpu : topology.gpus)
    if (gpu.root && *gpu.root < topology.roots.size()) hosts.insert(topology.roots[*gpu.root].host);
  return std::max(static_cast<int>(hosts.size()), 1);
}

bool is_homogeneous(const Topology& topology) noexcept {
  return std::ranges::all_of(topology.gpus, [&](const Gpu& gpu) {
    return gpu.vendor == topology.gpus.front().vendor && gpu.device == topology.gpus.front().device;
  });
}

}  // namespace lanewise
