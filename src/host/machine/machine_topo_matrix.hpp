// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The table of `nvidia-smi topo -m` as a machine: what people have at hand. It names classes and
// NUMA nodes, so the topology states its paths instead of a tree.
#include <string>
#include <string_view>

#include "core/machine/topology.hpp"

namespace lanewise::host {

// Whether a text that is no XML begins with the table's header, perhaps below a prompt.
[[nodiscard]] bool is_topo_matrix(std::string_view text);

// Throws Error with `file`, line and expectation.
[[nodiscard]] Topology read_topo_matrix(const std::string& file, std::string_view text);

}  // namespace lanewise::host
