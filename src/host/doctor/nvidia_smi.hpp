// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What nvidia-smi says of the GPUs: power state, display, and which pairs the driver lets access
// each other. On this machine it is run, in a process of its own with a time limit; of another
// root its recorded output is read.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/topology.hpp"
#include "doctor/machine_files.hpp"

namespace lanewise::host {

struct SmiGpu {
  PciAddress address;
  std::string name;
  std::string driver;
  std::string power_state;  // "P0" .. "P12"
  std::string display;      // "Enabled", "Disabled"
};

// "OK", "CNS", "GNS", "TNS", "NS", "DR", "U" of `nvidia-smi topo -p2p r`, rows by GPU.
using PeerMatrix = std::vector<std::vector<std::string>>;

struct NvidiaSmi {
  std::vector<SmiGpu> gpus;
  PeerMatrix peers;

  [[nodiscard]] const SmiGpu* find(const PciAddress& address) const noexcept;
};

[[nodiscard]] std::vector<SmiGpu> parse_smi_gpus(std::string_view csv);
[[nodiscard]] PeerMatrix parse_peer_matrix(std::string_view text);

// Empty parts where nvidia-smi is not there, fails or takes longer than its limit.
[[nodiscard]] NvidiaSmi run_nvidia_smi();
[[nodiscard]] NvidiaSmi read_recorded_smi(const MachineFiles& files);

}  // namespace lanewise::host
