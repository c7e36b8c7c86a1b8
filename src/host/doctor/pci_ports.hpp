// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// PCI functions of an examined machine: the ports above a GPU, links as they are now, and words of
// the configuration space.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/topology.hpp"
#include "doctor/machine_files.hpp"

namespace lanewise::host {

// "/sys/bus/pci/devices/0000:01:00.0".
[[nodiscard]] std::string folder_of(std::string_view address);

// Addresses of the bridges from this function to its root, the nearest first.
[[nodiscard]] std::vector<std::string> ports_above(const MachineFiles& files,
                                                   std::string_view address);

struct LinkState {
  PciLink now;
  PciLink maximum;
};
[[nodiscard]] LinkState read_link_state(const MachineFiles& files, std::string_view address);

// "Gen4 x8"; "unknown".
[[nodiscard]] std::string describe(const PciLink& link);

// PCI Express "Access Control Services", its control word.
enum class AcsState : std::uint8_t { none, read, unreadable };
struct AcsControl {
  AcsState state = AcsState::none;
  int offset = 0;  // of the capability
  std::uint16_t control = 0;
  [[nodiscard]] bool redirects() const noexcept { return (control & 0x000cU) != 0; }
  [[nodiscard]] bool has_egress_control() const noexcept { return (control & 0x0020U) != 0; }
};
// Without rights the kernel shows 64 bytes of the configuration space: unreadable.
[[nodiscard]] AcsControl read_acs(const MachineFiles& files, std::string_view address);

}  // namespace lanewise::host
