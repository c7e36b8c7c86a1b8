// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a reader saw of a machine's PCI tree, before GPUs are picked out of it. Every reader fills
// one; only `assemble` knows how a Topology comes of it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/topology.hpp"

namespace lanewise::host {

inline constexpr std::uint16_t nvidia_vendor = 0x10de;
// PCI class codes, base class and subclass (PCI Code and ID Assignment Specification).
inline constexpr std::uint16_t class_vga = 0x0300;
inline constexpr std::uint16_t class_3d = 0x0302;
inline constexpr std::uint16_t class_host_bridge = 0x0600;
inline constexpr std::uint16_t class_pci_bridge = 0x0604;
inline constexpr std::uint16_t class_other_bridge = 0x0680;  // NVSwitch

// sysfs and hwloc show every port; an NCCL XML shows switches by their upstream port alone.
// More than any machine has. What looks at pairs of GPUs takes a while with them already.
inline constexpr std::size_t most_gpus = 1024;

enum class TreeKind : std::uint8_t { every_port, switches };

struct PciNode {
  PciAddress address;
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint16_t class_code = 0;
  PciLink link;                       // at its maximum
  std::optional<std::size_t> parent;  // index into MachineTree::nodes
  std::optional<std::size_t> root;    // index into MachineTree::roots
  std::optional<int> numa;
  bool is_numa_contradicted = false;  // the source names a node that it does not have
  int compute_capability = 0;
  int nvlinks = 0;
  std::optional<int> number;  // the source's own
  bool is_gpu = false;
};

struct MachineTree {
  TreeKind kind = TreeKind::every_port;
  std::vector<PciNode> nodes;  // parents before children
  std::vector<Root> roots;
  std::vector<NumaNode> numa_nodes;
  std::string cpu_vendor;
  int cpu_family = 0;
  int cpu_model = 0;
  bool is_guest = false;
  std::string source;
  std::vector<std::string> notes;
};

// An NVIDIA GPU by vendor and class.
[[nodiscard]] bool is_nvidia_gpu(const PciNode& node) noexcept;

[[nodiscard]] Topology assemble(MachineTree tree);

}  // namespace lanewise::host
