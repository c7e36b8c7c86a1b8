// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <map>

#include "doctor/checks.hpp"
#include "doctor/pci_ports.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view fix_translation =
    "add iommu=pt to GRUB_CMDLINE_LINUX in /etc/default/grub, sudo update-grub, sudo reboot "
    "(AMD also: amd_iommu=off); until then start servers with NCCL_P2P_DISABLE=1";
constexpr std::string_view undo_translation =
    "take the word out of GRUB_CMDLINE_LINUX, sudo update-grub, sudo reboot";

constexpr FindingKind translates = {
    .name = "iommu-translates",
    .severity = Severity::broken,
    .title = "The IOMMU translates what {gpus} send (group type {type})",
    .why =
        "CUDA does not support peer access between GPUs under IOMMU translation on bare metal: "
        "the first all-reduce hangs, or data land elsewhere, although nvidia-smi topo -p2p "
        "says OK.",
    .fix = fix_translation,
    .undo = undo_translation};

constexpr FindingKind translates_host = {
    .name = "iommu-translates-host-memory",
    .severity = Severity::note,
    .title = "The IOMMU translates what {gpus} send (group type {type})",
    .why =
        "These GPUs have no peer access, so nothing breaks; transfers through host memory are "
        "translated, too.",
    .fix = fix_translation,
    .undo = undo_translation};

constexpr FindingKind unknown_type = {
    .name = "iommu-unknown",
    .severity = Severity::unknown,
    .title = "The IOMMU is on and the type of the GPUs' groups cannot be read",
    .why =
        "Translated groups (DMA, DMA-FQ) break peer access, identity ones do not; the kernel's "
        "command line alone does not tell.",
    .fix = "sudo cat {file}",
    .undo = ""};

constexpr std::array kinds = {translates, translates_host, unknown_type};

bool has_peer_access(const Inspection& inspection) {
  for (const auto& row : inspection.smi.peers) {
    if (std::ranges::find(row, "OK") != row.end()) return true;
  }
  return std::ranges::any_of(inspection.topology.gpus, [](const Gpu& gpu) {
    return gpu.model.find("GeForce") == std::string::npos;
  });
}

void report_type(const Inspection& inspection, const std::string& type,
                 const std::vector<std::size_t>& gpus, const std::string& file, Report& report) {
  if (type == "identity") return;
  const bool is_known = type.starts_with("DMA");
  const auto& kind = !is_known                     ? unknown_type
                     : has_peer_access(inspection) ? translates
                                                   : translates_host;
  report.findings.push_back(make_finding(
      kind, {{"gpus", list_gpus(gpus)}, {"type", type}, {"file", file}},
      {{file, type.empty() ? "not readable" : type},
       {"/proc/cmdline", inspection.files.line("/proc/cmdline").value_or("not readable")}},
      addresses_of(inspection.topology, gpus)));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus() || inspection.topology.is_guest) return;
  std::map<std::string, std::vector<std::size_t>> gpus_by_type;
  std::map<std::string, std::string> file_of_type;
  for (std::size_t gpu = 0; gpu < inspection.topology.gpus.size(); ++gpu) {
    const auto folder = folder_of(to_string(inspection.topology.gpus[gpu].address));
    const auto group = inspection.files.link_name(folder + "/iommu_group");
    if (group.empty()) continue;  // no group: no IOMMU above it
    const auto file = "/sys/kernel/iommu_groups/" + group + "/type";
    const auto type = inspection.files.line(file).value_or("");
    gpus_by_type[type].push_back(gpu);
    file_of_type.emplace(type, file);
  }
  for (const auto& [type, gpus] : gpus_by_type)
    report_type(inspection, type, gpus, file_of_type[type], report);
}

}  // namespace

const Check iommu_check = {"iommu", kinds, run};

}  // namespace lanewise::host
