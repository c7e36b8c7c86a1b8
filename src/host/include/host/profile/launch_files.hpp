// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The files that the variables of a launch name. NCCL ends every communicator with a system error
// where one of them is missing.
#include <string>
#include <vector>

#include "core/profile/launch_plan.hpp"

namespace lanewise::host {

// Of the plan's variables those that name a file: NCCL_GRAPH_FILE and NCCL_TOPO_FILE.
[[nodiscard]] std::vector<LaunchVariable> file_variables(const LaunchPlan& plan);

// Whether a regular file is there, seen from this process's folder.
[[nodiscard]] bool has_file(const LaunchVariable& variable);

// "NCCL_GRAPH_FILE=/x/graph.xml: expected a file that is there" for the first one that is missing;
// empty where all are there.
[[nodiscard]] std::string find_missing_file(const LaunchPlan& plan);

}  // namespace lanewise::host
