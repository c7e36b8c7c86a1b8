// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A machine as a value: its GPUs, the PCI bridges above them, NUMA nodes and links. Made by
// host/topology_source.hpp from this machine or a file; tests build it by hand.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

// A PCI function. Domains have up to 32 bits (VMD, Hyper-V, some guests).
struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;
  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};
// No machine has this domain: that of an address which is made up, as its source shows none.
inline constexpr std::uint32_t no_domain = 0xffffffff;
// "0000:c1:00.0"; also "c1:00.0" and domains of up to 8 hex digits.
[[nodiscard]] std::optional<PciAddress> parse_pci_address(std::string_view text) noexcept;
[[nodiscard]] std::string to_string(const PciAddress& address);

// How near two GPUs are, as `nvidia-smi topo -m` says it: PIX one bridge, PXB several bridges, PHB
// the same host bridge, NODE the same NUMA node, SYS across NUMA nodes; and NET, which it cannot
// show, between two hosts. self: the same GPU.
enum class PathType : std::uint8_t { self, pix, pxb, phb, node, sys, net, unknown };
[[nodiscard]] std::string_view name_of(PathType path) noexcept;  // "X", "PIX", ... "?"

// A PCIe link at its maximum (an idle GPU reads Gen1). Zero means unknown.
struct PciLink {
  int generation = 0;  // 1..6
  int width = 0;       // lanes
  friend bool operator==(const PciLink&, const PciLink&) = default;
  [[nodiscard]] bool is_known() const noexcept { return generation > 0 && width > 0; }
  // One direction, GB/s of payload before packet overhead: Gen3 x16 is 15.75. 0 where unknown.
  [[nodiscard]] double gigabytes_per_second() const noexcept;
};

// A PCIe switch between a GPU and its root, by its upstream port; root ports and the switch's
// downstream ports are not listed, they only narrow the links. `parent` is an index into
// Topology::bridges, or none for the switch next to the root. The virtual switches of one chip are
// separate bridges.
struct Bridge {
  PciAddress address;
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  PciLink link;  // from this switch towards the root, the narrower of the link's two ends
  std::optional<std::size_t> parent;
  std::optional<std::size_t> root;  // index into Topology::roots, set where parent is none
  friend bool operator==(const Bridge&, const Bridge&) = default;
};

// A PCI root complex (host bridge). `numa` is the OS's node number; none where unknown. An NCCL XML
// does not tell host bridges apart: there each <cpu> counts as one root, as NCCL itself has it.
struct Root {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::optional<int> numa;
  std::optional<int> socket;
  int host = 0;  // where a file describes several, counted from 0
  friend bool operator==(const Root&, const Root&) = default;
};

struct Gpu {
  PciAddress address;
  std::uint16_t vendor = 0x10de;
  std::uint16_t device = 0;
  std::string model;           // "NVIDIA RTX PRO 6000 ..."; empty where unknown
  int compute_capability = 0;  // 120 for sm_120; 0 where unknown
  PciLink link;
  PciLink slot;                       // the narrower of `link` and of the port it hangs on
  PciLink narrowest;                  // of all hops to the root whose link is known
  std::optional<std::size_t> bridge;  // nearest bridge; none: directly under `root`
  std::optional<std::size_t> root;
  std::optional<int> numa;
  int nvlinks = 0;  // links the source shows; 0 is no evidence of none
  // What the source calls it: NVML's index, the `dev` of an NCCL XML; none: nothing but its place.
  std::optional<int> number;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct NumaNode {
  int number = 0;  // the OS's
  std::optional<int> socket;
  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

struct Topology {
  std::vector<Gpu> gpus;  // in order of PCI address
  std::vector<Bridge> bridges;
  std::vector<Root> roots;
  std::vector<NumaNode> numa_nodes;
  std::string cpu_vendor;  // "AuthenticAMD", "GenuineIntel"; empty where unknown
  int cpu_family = 0;
  int cpu_model = 0;
  bool is_guest = false;  // a virtual machine: the tree need not be the real one
  int nvswitches = 0;     // NVSwitch chips that the source shows
  std::string source;     // "this machine" or the file's name
  // Row by row, where the source names classes instead of a tree; its addresses are made up then.
  std::vector<PathType> stated_paths;
  std::vector<std::string> notes;  // what the source did not show or contradicts, for people
  friend bool operator==(const Topology&, const Topology&) = default;

  [[nodiscard]] PathType path(std::size_t a, std::size_t b) const noexcept;
  // Whether the source shows an NVLink or an NVSwitch. False is no evidence of none.
  [[nodiscard]] bool has_nvlink() const noexcept;
  // Position of the GPU with this address, if it is one of this machine's.
  [[nodiscard]] std::optional<std::size_t> find_gpu(const PciAddress& address) const noexcept;
};

// 16 hex digits over the GPUs' ids, the tree of bridges with links at their maximum, NUMA nodes and
// the processor's model; no bus numbers: it survives a reboot that moves them. It holds for one
// kind of source: NCCL's XML knows no host bridges, hwloc's no links, so that a machine's file
// gives another one than its /sys, from which the plugin and the profiles have theirs.
[[nodiscard]] std::string fingerprint(const Topology& topology);

}  // namespace lanewise
