// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The readers behind topology_source.hpp: each fills its part of a MachineTree. `root` is the
// folder that holds sys and proc: "/" for this machine.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine_tree.hpp"

namespace lanewise::host {

// The processors' side of a machine.
struct Processors {
  std::vector<NumaNode> numa_nodes;             // by number
  std::vector<std::vector<bool>> cpus_of_node;  // as numa_nodes, by the OS's CPU number
  std::string vendor;
  int family = 0;
  int model = 0;

  [[nodiscard]] const NumaNode* find_node(int number) const noexcept;
  // The one node that holds every CPU of a list like "0-63,128-191"; none where it is not one.
  [[nodiscard]] std::optional<int> node_of(std::string_view cpu_list) const;
};

// hardware_hwloc.cpp.
[[nodiscard]] Processors read_processors(const std::filesystem::path& root);

// pci_tree_sysfs.cpp: the kernel's own tree of NVIDIA's GPUs and what is above them. hwloc would
// read every function's configuration space for it, 256 bytes each: 27 us a word in a virtual
// machine, 2 to 10 ms a function, under one lock for all ranks that start together.
void add_pci_tree(MachineTree& tree, const std::filesystem::path& root,
                  const Processors& processors);

// machine_xml.cpp: hwloc's XML or NCCL's. Throws Error with `name`, line and expectation.
[[nodiscard]] MachineTree parse_machine_tree(const std::string& name, std::string_view text);

// Of "16.0 GT/s PCIe" or "8 GT/s" and 1 to 32 lanes; a link that is not known for anything else.
[[nodiscard]] PciLink parse_link(std::string_view speed, long long lanes) noexcept;

}  // namespace lanewise::host
