// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The readers behind topology_source.hpp, one library each.
#include <filesystem>
#include <string>
#include <string_view>

#include "machine_tree.hpp"

namespace lanewise::host {

// hardware_hwloc.cpp. `root` is the folder that holds sys and proc: "/" for this machine.
[[nodiscard]] MachineTree read_machine_tree(const std::filesystem::path& root);

// machine_xml.cpp: hwloc's XML or NCCL's. Throws Error with `name`, line and expectation.
[[nodiscard]] MachineTree parse_machine_tree(const std::string& name, std::string_view text);

// pci_sysfs.cpp: what hwloc does not tell about a PCI function, from its folder under `root`.
struct PciAttributes {
  PciLink link;  // at its maximum
  std::optional<int> numa;
};
[[nodiscard]] PciAttributes read_pci_attributes(const std::filesystem::path& root,
                                                const PciAddress& address);

// "16.0 GT/s PCIe", "8 GT/s": the PCI Express generation; 0 for anything else.
[[nodiscard]] int parse_link_generation(std::string_view text) noexcept;

// Whether the processor's flags under `root` name a hypervisor.
[[nodiscard]] bool is_guest_machine(const std::filesystem::path& root);

}  // namespace lanewise::host
