// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "core/machine/topology_facts.hpp"
#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind flat = {
    .name = "guest-topology",
    .severity = Severity::note,
    .title = "A virtual machine: the PCI tree in it need not be the real one",
    .why =
        "Switches, shared uplinks, ACS and the IOMMU of the host are hidden, and NCCL plans by "
        "the tree that it is shown. Nothing here says which GPUs are near each other.",
    .fix =
        "ask the provider for its topology file and set NCCL_TOPO_FILE=FILE; lanewise-bench "
        "links shows what the pairs can do",
    .undo = "unset NCCL_TOPO_FILE"};

constexpr FindingKind collapse = {
    .name = "switch-collapse",
    .severity = Severity::note,
    .title = "PEX890xx switches that are cut into virtual switches, with several GPUs each",
    .why =
        "Writes of two GPUs of one virtual switch to two root ports were seen to fall from 37 "
        "to 2.7 GB/s. A ring that crosses once from each switch does not meet this; a tree "
        "does. Lanewise chooses no Tree here without a profile.",
    .fix = "lanewise-bench links    # shows whether writes collapse on this machine",
    .undo = ""};

constexpr FindingKind uplink = {
    .name = "shared-uplink",
    .severity = Severity::note,
    .title = "{gpus} share the uplink of the switch {bridge}: {times} times what it can carry",
    .why =
        "Small all-reduces do not fill it; large ones through host memory do. Peer transfers "
        "below the switch do not use it.",
    .fix = "lanewise topology    # keep tensor-parallel groups below one switch where they fit",
    .undo = ""};

constexpr FindingKind mixed = {
    .name = "mixed-gpus",
    .severity = Severity::note,
    .title = "The GPUs are of several models: {models}",
    .why =
        "An all-reduce waits for its slowest GPU, drivers give peer access only between equal "
        "ones, and CUDA numbers unequal GPUs by speed unless told otherwise.",
    .fix = "export CUDA_DEVICE_ORDER=PCI_BUS_ID, and name equal GPUs in CUDA_VISIBLE_DEVICES",
    .undo = "unset CUDA_DEVICE_ORDER CUDA_VISIBLE_DEVICES"};

constexpr std::array kinds = {flat, collapse, uplink, mixed};

void judge_uplinks(const Inspection& inspection, Report& report) {
  for (const auto& shared : shared_uplinks(inspection.topology)) {
    if (!shared.oversubscription || *shared.oversubscription < 1.5) continue;
    const auto address = to_string(inspection.topology.bridges[shared.bridge].address);
    auto devices = addresses_of(inspection.topology, shared.gpus);
    devices.push_back(address);
    report.findings.push_back(make_finding(uplink,
                                           {{"gpus", list_gpus(shared.gpus)},
                                            {"bridge", address},
                                            {"times", fixed(*shared.oversubscription, 1)}},
                                           {{"/sys/bus/pci/devices/" + address, "upstream port"}},
                                           std::move(devices)));
  }
}

std::string list_models(const Topology& topology) {
  std::vector<std::string> models;
  for (const auto& gpu : topology.gpus) {
    const auto model = gpu.model.empty() ? "unknown model" : gpu.model;
    if (std::ranges::find(models, model) == models.end()) models.push_back(model);
  }
  std::string text;
  for (const auto& model : models) text += (text.empty() ? "" : ", ") + model;
  return text;
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus()) return;
  const Topology& topology = inspection.topology;
  if ((topology.is_guest || is_flat(topology)) && inspection.value_of("NCCL_TOPO_FILE").empty())
    report.findings.push_back(
        make_finding(flat, {},
                     {{"/proc/cpuinfo", topology.is_guest ? "flags: hypervisor" : "no hypervisor"},
                      {"/sys/bus/pci/devices",
                       is_flat(topology) ? "GPUs side by side on one bus" : "a tree of ports"}}));
  if (has_collapsing_switch(topology))
    report.findings.push_back(
        make_finding(collapse, {}, {{"/sys/bus/pci/devices", "several upstream ports 1000:c03x"}}));
  judge_uplinks(inspection, report);
  if (!is_homogeneous(topology))
    report.findings.push_back(make_finding(mixed, {{"models", list_models(topology)}},
                                           {{"/sys/bus/pci/devices", "device ids differ"}}));
}

}  // namespace

const Check topology_check = {"topology", kinds, run};

}  // namespace lanewise::host
