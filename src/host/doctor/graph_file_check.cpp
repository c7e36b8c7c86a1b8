// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>
#include <set>

#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind missing = {
    .name = "graph-file-missing",
    .severity = Severity::broken,
    .title = "{name} names a file that is not there: {value}",
    .why = "Where NCCL_GRAPH_FILE cannot be read every communicator ends with a system error.",
    .fix = "{remove}",
    .undo = "{restore}"};

constexpr FindingKind topology_missing = {
    .name = "topology-file-missing",
    .severity = Severity::slow,
    .title = "{name} names a file that is not there: {value}",
    .why = "NCCL warns and goes on with the tree that it finds by itself.",
    .fix = "{remove}",
    .undo = "{restore}"};

constexpr FindingKind other_machine = {
    .name = "graph-file-other-machine",
    .severity = Severity::broken,
    .title = "The graph file {value} is for {in_file} GPUs, this machine has {count}",
    .why =
        "A communicator whose GPUs are not exactly the file's ends with 'XML Import Channel : "
        "dev N not found' and a system error.",
    .fix = "{remove}    # lanewise graph writes one for this machine where NCCL needs it",
    .undo = "{restore}"};

constexpr FindingKind for_all = {
    .name = "graph-file-for-all",
    .severity = Severity::slow,
    .title = "{origin} sets NCCL_GRAPH_FILE for every process of this machine",
    .why =
        "Any communicator of fewer GPUs fails: smaller tensor-parallel groups, pipeline stages, "
        "one rank. It belongs into the start of the one server that spans all GPUs.",
    .fix = "{remove}",
    .undo = "{restore}"};

constexpr std::array kinds = {missing, topology_missing, other_machine, for_all};

// The different numbers of <gpu dev="..."/> in the file.
std::size_t count_gpus(const std::string& text) {
  std::set<std::string> devices;
  constexpr std::string_view element = "<gpu ";
  constexpr std::string_view attribute = "dev=\"";
  for (auto found = text.find(element); found != std::string::npos;
       found = text.find(element, found + 1)) {
    const auto tag = text.substr(found, text.find('>', found) - found);
    const auto start = tag.find(attribute);
    if (start == std::string::npos) continue;
    const auto from = start + attribute.size();
    devices.insert(tag.substr(from, tag.find('"', from) - from));
  }
  return devices.size();
}

void judge_graph(const Inspection& inspection, const Variable& variable, Report& report) {
  Places places = places_of(variable);
  places.emplace("origin", variable.origin);
  const auto seen = observe(variable);
  const auto file = inspection.process_files.read(variable.value);
  if (!file.is_read()) {
    if (file.state == ReadState::missing)
      report.findings.push_back(make_finding(missing, places, {seen}));
    return;
  }
  const auto in_file = count_gpus(file.text);
  const auto count = inspection.topology.gpus.size();
  places.emplace("in_file", std::to_string(in_file));
  places.emplace("count", std::to_string(count));
  if (in_file != count)
    report.findings.push_back(make_finding(other_machine, places, {seen}));
  else if (variable.origin.starts_with('/'))
    report.findings.push_back(make_finding(for_all, places, {seen}));
}

void run(const Inspection& inspection, Report& report) {
  const auto* graph = inspection.find_variable("NCCL_GRAPH_FILE");
  if (graph != nullptr) judge_graph(inspection, *graph, report);
  const auto* topology = inspection.find_variable("NCCL_TOPO_FILE");
  if (topology == nullptr ||
      inspection.process_files.read(topology->value).state != ReadState::missing)
    return;
  report.findings.push_back(
      make_finding(topology_missing, places_of(*topology), {observe(*topology)}));
}

}  // namespace

const Check graph_file_check = {"files of NCCL", kinds, run};

}  // namespace lanewise::host
