// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/topology.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace lanewise {

namespace {

constexpr std::array<std::string_view, 8> path_names = {"X",    "PIX", "PXB", "PHB",
                                                        "NODE", "SYS", "NET", "?"};

// GB/s of one lane and direction by generation, line code taken off: 8b/10b for 1 and 2, 128b/130b
// for 3 to 5, 242 of 256 bytes of a flit for 6 (PCI Express base specification 6.0).
constexpr std::array lane_gigabytes = {0.0,
                                       0.25,
                                       0.5,
                                       8.0 / 8 * 128 / 130,
                                       16.0 / 8 * 128 / 130,
                                       32.0 / 8 * 128 / 130,
                                       64.0 / 8 * 242 / 256};

// Reads a whole field of 1 to `digits` hex digits that is at most `limit`.
std::optional<std::uint32_t> parse_hex(std::string_view text, std::size_t digits,
                                       std::uint32_t limit) noexcept {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || text.size() > digits) return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || stop != end || value > limit) return std::nullopt;
  return value;
}

std::optional<int> numa_of(const Topology& topology, const Gpu& gpu) noexcept {
  if (gpu.numa) return gpu.numa;
  if (gpu.root && *gpu.root < topology.roots.size()) return topology.roots[*gpu.root].numa;
  return std::nullopt;
}

int host_of(const Topology& topology, const Gpu& gpu) noexcept {
  return gpu.root && *gpu.root < topology.roots.size() ? topology.roots[*gpu.root].host : 0;
}

std::optional<std::size_t> parent_of(const Topology& topology, std::size_t bridge) noexcept {
  return bridge < topology.bridges.size() ? topology.bridges[bridge].parent : std::nullopt;
}

bool is_above(const Topology& topology, std::size_t bridge,
              std::optional<std::size_t> start) noexcept {
  // No chain is longer than the list: a cycle in a hand-made topology ends here.
  for (std::size_t hops = 0; start && hops < topology.bridges.size(); ++hops) {
    if (*start == bridge) return true;
    start = parent_of(topology, *start);
  }
  return false;
}

// The nearest switch above both GPUs.
std::optional<std::size_t> common_bridge(const Topology& topology, const Gpu& a,
                                         const Gpu& b) noexcept {
  auto bridge = a.bridge;
  for (std::size_t hops = 0; bridge && hops < topology.bridges.size(); ++hops) {
    if (is_above(topology, *bridge, b.bridge)) return bridge;
    bridge = parent_of(topology, *bridge);
  }
  return std::nullopt;
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) noexcept {
  PciAddress address;
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto function = parse_hex(text.substr(dot + 1), 1, 7);
  text = text.substr(0, dot);
  const auto last = text.rfind(':');
  if (!function || last == std::string_view::npos) return std::nullopt;
  const auto device = parse_hex(text.substr(last + 1), 2, 0x1f);
  text = text.substr(0, last);
  const auto first = text.find(':');
  if (first != std::string_view::npos) {
    const auto domain = parse_hex(text.substr(0, first), 8, 0xffffffff);
    if (!domain) return std::nullopt;
    address.domain = *domain;
    text = text.substr(first + 1);
  }
  const auto bus = parse_hex(text, 2, 0xff);
  if (!bus || !device) return std::nullopt;
  address.bus = static_cast<std::uint8_t>(*bus);
  address.device = static_cast<std::uint8_t>(*device);
  address.function = static_cast<std::uint8_t>(*function);
  return address;
}

std::string to_string(const PciAddress& address) {
  std::array<char, 24> text{};
  const int length = std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x",
                                   static_cast<unsigned>(address.domain), address.bus,
                                   address.device, address.function);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string_view name_of(PathType path) noexcept {
  const auto index = static_cast<std::size_t>(path);
  return index < path_names.size() ? path_names[index] : path_names.back();
}

double PciLink::gigabytes_per_second() const noexcept {
  const auto index = static_cast<std::size_t>(generation);
  if (!is_known() || index >= lane_gigabytes.size()) return 0;
  return lane_gigabytes[index] * width;
}

PathType Topology::path(std::size_t a, std::size_t b) const noexcept {
  if (a >= gpus.size() || b >= gpus.size()) return PathType::unknown;
  if (a == b) return PathType::self;
  if (!stated_paths.empty()) {
    const auto place = a * gpus.size() + b;
    return place < stated_paths.size() ? stated_paths[place] : PathType::unknown;
  }
  const Gpu& one = gpus[a];
  const Gpu& other = gpus[b];
  if (host_of(*this, one) != host_of(*this, other)) return PathType::net;
  if (const auto bridge = common_bridge(*this, one, other)) {
    return one.bridge == bridge && other.bridge == bridge ? PathType::pix : PathType::pxb;
  }
  if (one.root && one.root == other.root) return PathType::phb;
  const auto numa = numa_of(*this, one);
  const auto other_numa = numa_of(*this, other);
  if (!numa || !other_numa) return PathType::unknown;
  return numa == other_numa ? PathType::node : PathType::sys;
}

bool Topology::has_nvlink() const noexcept {
  return nvswitches > 0 ||
         std::ranges::any_of(gpus, [](const Gpu& gpu) { return gpu.nvlinks > 0; });
}

std::optional<std::size_t> Topology::find_gpu(const PciAddress& address) const noexcept {
  const auto found = std::ranges::find(gpus, address, &Gpu::address);
  if (found == gpus.end()) return std::nullopt;
  return static_cast<std::size_t>(found - gpus.begin());
}

}  // namespace lanewise
