// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What follows from a topology: who shares an uplink, which switches collapse, whether the tree can
// be real. Facts only; what to do about them is the caller's.
#include <cstddef>
#include <optional>
#include <vector>

#include "core/machine/gpu_models.hpp"
#include "core/machine/topology.hpp"

namespace lanewise {

// Whether this GPU's kind can carry NVLink, whatever the topology's source shows.
[[nodiscard]] NvlinkAbility can_have_nvlink(const Gpu& gpu) noexcept;

// `no` where no GPU can, `yes` where one has it or can, else `unknown` (also without GPUs).
[[nodiscard]] NvlinkAbility can_have_nvlink(const Topology& topology) noexcept;

// False where a GPU is a GeForce, to which NVIDIA's driver gives no peer access over PCI Express:
// what two of them send each other goes through host memory.
[[nodiscard]] bool has_peer_access(const Topology& topology) noexcept;

// A switch with two or more GPUs below it, at any depth.
struct SharedUplink {
  std::size_t bridge = 0;         // index into Topology::bridges
  std::vector<std::size_t> gpus;  // indices into Topology::gpus, ascending
  // Bandwidth of all the GPUs' slots over the uplink's: 4 is four GPUs for one link of their size.
  // None where a link is unknown.
  std::optional<double> oversubscription;
  friend bool operator==(const SharedUplink&, const SharedUplink&) = default;
};
[[nodiscard]] std::vector<SharedUplink> shared_uplinks(const Topology& topology);

// PEX890xx chips (1000:c03x) cut into several virtual switches fall from 37 to 2.7 GB/s when two
// GPUs of one of them write to two root ports (field report, CASES 37). True where at least two
// such switches have two or more GPUs each.
[[nodiscard]] bool has_collapsing_switch(const Topology& topology) noexcept;

// Two GPUs side by side on one bus without a switch above them: PCI Express is point to point, so a
// guest's tree, not the machine's. Nothing about switches or uplinks can be concluded from it.
[[nodiscard]] bool is_flat(const Topology& topology) noexcept;

// How many hosts a file describes, by the GPUs in it; 1 where there is none.
[[nodiscard]] int count_hosts(const Topology& topology);

// All GPUs are of one model (device id). True for no GPU or one.
[[nodiscard]] bool is_homogeneous(const Topology& topology) noexcept;

}  // namespace lanewise
