// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/topology.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "commands.hpp"
#include "machine.hpp"
#include "topology_report.hpp"

namespace lanewise::cli {

namespace {

struct TopologyOptions {
  std::string machine;
  bool wants_json = false;
};

void show(const TopologyOptions& options) {
  const auto topology = read_machine(options.machine);
  const auto text = options.wants_json ? to_json(topology) : to_text(topology);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_topology(CLI::App& app) {
  const auto options = std::make_shared<TopologyOptions>();
  auto* command = app.add_subcommand(
      "topology", "Show the GPUs of a machine, the PCIe tree above them and what they share");
  command->add_option("--machine", options->machine,
                      "An NCCL topology XML or an hwloc XML instead of this machine");
  command->add_flag("--json", options->wants_json, "Write JSON");
  command->callback([options] { show(*options); });
}

}  // namespace lanewise::cli
