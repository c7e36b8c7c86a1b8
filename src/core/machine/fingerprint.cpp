// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/machine/topology.hpp"

namespace lanewise {

namespace {

// FNV-1a: small, the same on every platform; a fingerprint only has to tell machines apart.
constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325;
constexpr std::uint64_t fnv_prime = 0x100000001b3;

std::string describe(const PciLink& link) {
  return "g" + std::to_string(link.generation) + "x" + std::to_string(link.width);
}

std::string describe(std::uint16_t vendor, std::uint16_t device) {
  return std::to_string(vendor) + ":" + std::to_string(device);
}

// Children in the order of their text: addresses, and the order they impose, do not count.
std::string join_sorted(std::vector<std::string> parts) {
  std::ranges::sort(parts);
  std::string text = "[";
  for (const auto& part : parts) text += part + ";";
  return text + "]";
}

std::string describe_gpu(const Topology& topology, const Gpu& gpu) {
  const auto numa = gpu.numa                                        ? gpu.numa
                    : gpu.root && *gpu.root < topology.roots.size() ? topology.roots[*gpu.root].numa
                                                                    : std::nullopt;
  return "gpu " + describe(gpu.vendor, gpu.device) + " " + describe(gpu.link) + " " +
         describe(gpu.narrowest) + " numa " + (numa ? std::to_string(*numa) : "?");
}

std::string describe_bridge(const Topology& topology, std::size_t index, std::size_t depth) {
  std::vector<std::string> below;
  for (const auto& gpu : topology.gpus) {
    if (gpu.bridge == index) below.push_back(describe_gpu(topology, gpu));
  }
  for (std::size_t child = 0; child < topology.bridges.size(); ++child) {
    // The depth ends a cycle in a hand-made topology.
    if (topology.bridges[child].parent == index && depth < topology.bridges.size())
      below.push_back(describe_bridge(topology, child, depth + 1));
  }
  const Bridge& bridge = topology.bridges[index];
  return "bridge " + describe(bridge.vendor, bridge.device) + " " + describe(bridge.link) +
         join_sorted(std::move(below));
}

std::string describe_root(const Topology& topology, std::optional<std::size_t> root) {
  std::vector<std::string> below;
  for (const auto& gpu : topology.gpus) {
    if (!gpu.bridge && gpu.root == root) below.push_back(describe_gpu(topology, gpu));
  }
  for (std::size_t index = 0; index < topology.bridges.size(); ++index) {
    const Bridge& bridge = topology.bridges[index];
    if (!bridge.parent && bridge.root == root) below.push_back(describe_bridge(topology, index, 0));
  }
  return below.empty() ? "" : "root " + join_sorted(std::move(below));
}

}  // namespace

std::string fingerprint(const Topology& topology) {
  std::vector<std::string> parts;
  for (std::size_t root = 0; root < topology.roots.size(); ++root)
    parts.push_back(describe_root(topology, root));
  parts.push_back(describe_root(topology, std::nullopt));
  for (const auto& node : topology.numa_nodes)
    parts.push_back("numa " + std::to_string(node.number));
  parts.push_back("cpu " + topology.cpu_vendor + " " + std::to_string(topology.cpu_family) + " " +
                  std::to_string(topology.cpu_model));
  std::string stated;
  for (const auto path : topology.stated_paths) stated += name_of(path);
  parts.push_back(stated);
  std::erase(parts, "");
  std::uint64_t hash = fnv_offset;
  for (const char letter : join_sorted(std::move(parts)))
    hash = (hash ^ static_cast<unsigned char>(letter)) * fnv_prime;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace lanewise
