// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A topology as text for people and as JSON for programs. Both are tested output.
#include <string>

#include "core/machine/topology.hpp"

namespace lanewise::cli {

// The matrix of `nvidia-smi topo -m`, the tree, links, shared uplinks and notes; ends in a newline.
[[nodiscard]] std::string to_text(const Topology& topology);

// One object with "schema_version": 1; what is unknown is null. Indices count from 0.
[[nodiscard]] std::string to_json(const Topology& topology);

}  // namespace lanewise::cli
