// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>

#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind unseen = {
    .name = "machine-hidden",
    .severity = Severity::unknown,
    .title = "{path} is not visible here",
    .why =
        "NCCL reads the tree of GPUs and NUMA nodes there, and so do we: without it NCCL plans "
        "for a machine without switches, and nothing of the PCI tree can be checked.",
    .fix =
        "run it on the host, or start the container with -v /sys:/sys:ro (gVisor: another "
        "runtime)",
    .undo = ""};

constexpr FindingKind no_gpu = {
    .name = "no-gpu",
    .severity = Severity::note,
    .title = "There is no NVIDIA GPU in the PCI tree",
    .why = "There is nothing to all-reduce on this machine, or its GPUs were not given to it.",
    .fix = "lspci -d 10de:",
    .undo = ""};

constexpr FindingKind contradiction = {
    .name = "locality-untrusted",
    .severity = Severity::note,
    .title = "The firmware contradicts itself on where a device is",
    .why =
        "NCCL places its threads and host buffers by these numbers; a wrong one costs a trip "
        "between the sockets.",
    .fix = "update the BIOS",
    .undo = ""};

constexpr std::array kinds = {unseen, no_gpu, contradiction};

void run(const Inspection& inspection, Report& report) {
  bool is_visible = true;
  for (const char* folder : {"/sys/bus/pci/devices", "/sys/devices/system/node"}) {
    if (!inspection.files.names(folder).empty()) continue;
    is_visible = false;
    report.findings.push_back(
        make_finding(unseen, {{"path", folder}}, {{folder, "missing, empty or not readable"}}));
  }
  if (is_visible && inspection.topology.gpus.empty())
    report.findings.push_back(
        make_finding(no_gpu, {}, {{"/sys/bus/pci/devices", "no function of vendor 10de"}}));
  if (!inspection.has_several_gpus()) return;
  for (const auto& note : inspection.topology.notes) {
    if (note.find("numa_node") != std::string::npos)
      report.findings.push_back(make_finding(contradiction, {}, {{"/sys/bus/pci/devices", note}}));
  }
}

}  // namespace

const Check machine_check = {"machine", kinds, run};

}  // namespace lanewise::host
