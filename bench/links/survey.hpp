// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Asks a tester about every pair and scenario, and goes on past those that hang or lie.
#include <functional>
#include <string>
#include <vector>

#include "contention.hpp"
#include "core/machine/topology.hpp"
#include "link_report.hpp"
#include "link_tester.hpp"

namespace lanewise::bench {

struct SurveyPlan {
  std::vector<Flow> flows;  // all_flows() or a choice of them
  std::vector<Method> methods = {Method::peer, Method::host};
  std::vector<Scenario> scenarios;  // measured by peer access where each of its pairs has it
  std::function<void(const Probe&)> on_probe;  // may be empty; called before each
};

// Every ordered pair, and each GPU with itself.
[[nodiscard]] std::vector<Flow> all_flows(std::size_t gpus);

// "all", or pairs as "0-1,2-3" (both directions). Throws Error for other text and for GPUs that
// the machine has not.
[[nodiscard]] std::vector<Flow> parse_pairs(const std::string& text, std::size_t gpus);

// A GPU with itself is measured through host memory, without bandwidth; peer access only where
// both directions have it. A pair's first error ends its own entry, and no later probe with
// several flows includes it.
[[nodiscard]] LinkReport survey(LinkTester& tester, const LinkMachine& machine,
                                const SurveyPlan& plan);

// Fills in each pair's path.
void add_paths(LinkReport& report, const Topology& topology);

}  // namespace lanewise::bench
