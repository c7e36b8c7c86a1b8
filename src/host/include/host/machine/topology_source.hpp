// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Where a topology comes from: this machine, a file, or the machine that ships with us. Slow (some
// milliseconds, reads files): for set-up only.
#include <filesystem>
#include <string>
#include <string_view>

#include "core/machine/topology.hpp"

namespace lanewise::host {

// The `source` of what read_topology() gives.
inline constexpr std::string_view this_machine = "this machine";

// This machine, from /sys and /proc through hwloc. Neither the calling process's CPU affinity nor
// its cgroup, CUDA_VISIBLE_DEVICES or HWLOC_ variables change the answer: all ranks of one machine
// get the same. Nothing is written to stderr and no GPU library is loaded. What cannot be read is
// unknown and named in Topology::notes; without a readable /sys there are no GPUs.
// Throws Error only where hwloc itself fails.
[[nodiscard]] Topology read_topology();

// The machine whose /sys and /proc lie under `root`. Throws Error where `root` is no folder.
[[nodiscard]] Topology read_topology_under(const std::filesystem::path& root);

// A file: hwloc's XML (lstopo --of xml, versions 2 and 3) or NCCL's topology XML (what
// NCCL_TOPO_DUMP_FILE writes), told apart by content. A link in NCCL's XML is taken as its maximum;
// hwloc's XML has only the speed of the moment, so links from it are unknown. Or the table of
// `nvidia-smi topo -m`, which has classes and NUMA nodes and neither links nor models. Throws Error
// with file, line and what was expected, as read_text_file does too; a file of another kind is
// refused.
[[nodiscard]] Topology read_topology(const std::filesystem::path& file);

// The same for what only shows the machine: the file may be one that everyone may write.
[[nodiscard]] Topology view_topology(const std::filesystem::path& file);

// The same for a text that is in memory; `name` stands for the file in errors and in `source`.
[[nodiscard]] Topology parse_topology(std::string_view name, std::string_view text);

// The machine that ships with the tool: two sockets, eight RTX PRO 6000, no switches. For showing
// what Lanewise does where there is no GPU.
[[nodiscard]] Topology bundled_topology();

}  // namespace lanewise::host
