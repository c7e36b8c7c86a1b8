// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "commands.hpp"
#include "core/machine/graph_file.hpp"
#include "host/files/text_file.hpp"
#include "machine.hpp"
#include "words.hpp"

namespace lanewise::cli {
namespace {

struct GraphOptions {
  std::string machine;
  std::string output;
};

void write_graph(const GraphOptions& options) {
  const auto graph = plan_ring_graph(read_machine(options.machine));
  const auto text = format_graph_file(graph);
  if (options.output.empty()) {
    std::fputs(text.c_str(), stdout);
  } else {
    host::write_text_file(options.output, text);
  }
  std::fprintf(stderr,
               "lanewise: %s of %.1f GB/s through %zu GPUs. Set NCCL_GRAPH_FILE for a "
               "process whose communicators all hold exactly these GPUs: any other fails\n",
               count_of(graph.channels, "channel").c_str(), graph.channel_bandwidth,
               graph.devices.size());
}

}  // namespace

void add_graph(CLI::App& app) {
  auto options = std::make_shared<GraphOptions>();
  auto* command =
      app.add_subcommand("graph", "Write an NCCL_GRAPH_FILE where NCCL's own search fails");
  command->add_option("--machine", options->machine, "A topology file instead of this machine")
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "Write here instead of to stdout")
      ->type_name("FILE");
  command->callback([options] { write_graph(*options); });
}

}  // namespace lanewise::cli
