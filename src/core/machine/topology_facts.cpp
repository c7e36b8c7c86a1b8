// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/topology_facts.hpp"

#include <algorithm>

namespace lanewise {

namespace {

constexpr std::uint16_t broadcom_vendor = 0x1000;
// PEX89000, PEX89024, ... PEX89144 share 0xc030 and differ in the last digit.
constexpr std::uint16_t pex890xx_device = 0xc030;
constexpr std::uint16_t pex890xx_mask = 0xfff0;

bool is_pex890xx(const Bridge& bridge) noexcept {
  return bridge.vendor == broadcom_vendor && (bridge.device & pex890xx_mask) == pex890xx_device;
}

bool is_below(const Topology& topology, const Gpu& gpu, std::size_t bridge) noexcept {
  auto above = gpu.bridge;
  for (std::size_t hops = 0; above && hops < topology.bridges.size(); ++hops) {
    if (*above == bridge) return true;
    above = *above < topology.bridges.size() ? topology.bridges[*above].parent : std::nullopt;
  }
  return false;
}

std::optional<double> oversubscription_of(const Topology& topology, const SharedUplink& uplink) {
  const double up = topology.bridges[uplink.bridge].link.gigabytes_per_second();
  double down = 0;
  for (const auto index : uplink.gpus) {
    const double link = topology.gpus[index].link.gigabytes_per_second();
    if (link <= 0) return std::nullopt;
    down += link;
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

std::vector<SharedUplink> shared_uplinks(const Topology& topology) {
  std::vector<SharedUplink> uplinks;
  for (std::size_t bridge = 0; bridge < topology.bridges.size(); ++bridge) {
    SharedUplink uplink{.bridge = bridge};
    for (std::size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
      if (is_below(topology, topology.gpus[gpu], bridge)) uplink.gpus.push_back(gpu);
    }
    if (uplink.gpus.size() < 2) continue;
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
  for (const auto& one : topology.gpus) {
    for (const auto& other : topology.gpus) {
      if (!one.bridge && !other.bridge && one.address.device != other.address.device &&
          one.address.domain == other.address.domain && one.address.bus == other.address.bus)
        return true;
    }
  }
  return false;
}

bool is_homogeneous(const Topology& topology) noexcept {
  return std::ranges::all_of(topology.gpus, [&](const Gpu& gpu) {
    return gpu.vendor == topology.gpus.front().vendor && gpu.device == topology.gpus.front().device;
  });
}

}  // namespace lanewise
