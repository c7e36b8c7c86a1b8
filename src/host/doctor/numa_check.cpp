// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <map>

#include "doctor/checks.hpp"
#include "doctor/pci_ports.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind unknown_node = {
    .name = "numa-unknown",
    .severity = Severity::note,
    .title = "The NUMA node of {gpus} is not known on a machine with {count} nodes",
    .why =
        "NCCL then takes all of them to be on node 0 or far from each other, and places its "
        "host buffers by that.",
    .fix =
        "set the NUMA options of the BIOS (AMD: ACPI SRAT L3 off, NPS1); until then bind each "
        "rank: numactl --cpunodebind=N --membind=N",
    .undo = "start the ranks without numactl"};

constexpr FindingKind no_memory = {
    .name = "numa-memoryless",
    .severity = Severity::slow,
    .title = "NUMA node {node}, to which {gpus} belong, has no memory",
    .why =
        "Host buffers of these GPUs lie on another node: each transfer through host memory "
        "crosses the processor's interconnect.",
    .fix = "put memory into the channels of that node, or set NPS1 in the BIOS",
    .undo = ""};

constexpr FindingKind many_nodes = {
    .name = "numa-split",
    .severity = Severity::note,
    .title =
        "{sockets} sockets show {count} NUMA nodes (NPS or sub-NUMA clustering), and the GPUs "
        "are spread over {used} of them",
    .why =
        "NCCL takes GPUs on different nodes to be as far apart as on different sockets, and "
        "transfers through host memory get fewer memory channels.",
    .fix = "set NPS1 (AMD) or SNC off (Intel) in the BIOS and measure again",
    .undo = "set it back in the BIOS"};

constexpr std::array kinds = {unknown_node, no_memory, many_nodes};

// "Node 0 MemTotal:       0 kB".
bool has_memory(const MachineFiles& files, int node) {
  const auto text =
      files.read("/sys/devices/system/node/node" + std::to_string(node) + "/meminfo").text;
  const auto found = text.find("MemTotal:");
  if (found == std::string::npos) return true;
  const auto words = trim(std::string_view(text).substr(found + 9));
  return parse_whole(words.substr(0, words.find(' '))).value_or(1) > 0;
}

void judge_nodes(const Inspection& inspection,
                 const std::map<int, std::vector<std::size_t>>& gpus_of_node, Report& report) {
  for (const auto& [node, gpus] : gpus_of_node) {
    if (has_memory(inspection.files, node)) continue;
    report.findings.push_back(make_finding(
        no_memory, {{"node", std::to_string(node)}, {"gpus", list_gpus(gpus)}},
        {{"/sys/devices/system/node/node" + std::to_string(node) + "/meminfo", "MemTotal: 0 kB"}},
        addresses_of(inspection.topology, gpus)));
  }
}

void judge_split(const Inspection& inspection, std::size_t used, Report& report) {
  std::vector<int> sockets;
  for (const auto& node : inspection.topology.numa_nodes) {
    if (!node.socket) return;
    if (std::ranges::find(sockets, *node.socket) == sockets.end()) sockets.push_back(*node.socket);
  }
  const auto count = inspection.topology.numa_nodes.size();
  if (sockets.empty() || count <= sockets.size() || used <= sockets.size()) return;
  report.findings.push_back(
      make_finding(many_nodes,
                   {{"sockets", std::to_string(sockets.size())},
                    {"count", std::to_string(count)},
                    {"used", std::to_string(used)}},
                   {{"/sys/devices/system/node", std::to_string(count) + " nodes"}}));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus()) return;
  std::map<int, std::vector<std::size_t>> gpus_of_node;
  std::vector<std::size_t> lost;
  std::vector<Observation> seen;
  for (std::size_t gpu = 0; gpu < inspection.topology.gpus.size(); ++gpu) {
    const Gpu& device = inspection.topology.gpus[gpu];
    if (device.numa) {
      gpus_of_node[*device.numa].push_back(gpu);
      continue;
    }
    lost.push_back(gpu);
    const auto file = folder_of(to_string(device.address)) + "/numa_node";
    seen.push_back({file, inspection.files.line(file).value_or("missing")});
  }
  const auto count = inspection.topology.numa_nodes.size();
  if (!lost.empty() && count > 1)
    report.findings.push_back(
        make_finding(unknown_node, {{"gpus", list_gpus(lost)}, {"count", std::to_string(count)}},
                     std::move(seen), addresses_of(inspection.topology, lost)));
  judge_nodes(inspection, gpus_of_node, report);
  judge_split(inspection, gpus_of_node.size(), report);
}

}  // namespace

const Check numa_check = {"numa", kinds, run};

}  // namespace lanewise::host
