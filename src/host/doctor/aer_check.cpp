// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "doctor/checks.hpp"
#include "doctor/pci_ports.hpp"
#include "files/split_text.hpp"

namespace lanewise::host {
namespace {

// A few errors come with every boot; links that repeat for the sake of bad signals count thousands.
constexpr long long many_corrected = 1000;

constexpr FindingKind corrected = {
    .name = "aer-corrected",
    .severity = Severity::slow,
    .title = "{device} has corrected {count} link errors since boot",
    .why =
        "Each one is a packet that was sent again: all-reduces get slower and less even. "
        "Risers, cables and a link generation that the board cannot hold are the usual causes.",
    .fix =
        "cat {file}    # again under load: does it grow? then reseat the card and its riser, or "
        "set the slot one generation lower in the BIOS",
    .undo = ""};

constexpr FindingKind uncorrected = {
    .name = "aer-uncorrected",
    .severity = Severity::slow,
    .title = "{device} has met {count} errors that could not be corrected",
    .why =
        "Such an error ends a transfer; the driver reports it as an Xid and the job hangs or "
        "fails.",
    .fix = "sudo dmesg | grep -E 'AER|Xid'    # then reseat the card and its riser",
    .undo = ""};

constexpr FindingKind managed_memory = {
    .name = "uvm-hmm",
    .severity = Severity::note,
    .title = "HMM is on in nvidia_uvm, and links have errors",
    .why = "Lock-ups of peer transfers were seen with it on boxes of many PCIe GPUs.",
    .fix =
        "echo options nvidia_uvm uvm_disable_hmm=1 | sudo tee /etc/modprobe.d/nvidia-uvm-hmm.conf; "
        "sudo reboot",
    .undo = "sudo rm /etc/modprobe.d/nvidia-uvm-hmm.conf; sudo reboot"};

constexpr FindingKind unknown_memory = {
    .name = "uvm-hmm-unknown",
    .severity = Severity::unknown,
    .title = "Whether HMM is on in nvidia_uvm cannot be read, and links have errors",
    .why = "Lock-ups of peer transfers were seen with it on boxes of many PCIe GPUs.",
    .fix = "sudo cat {file}",
    .undo = ""};

constexpr std::array kinds = {corrected, uncorrected, managed_memory, unknown_memory};

// The line "TOTAL_ERR_COR 12" and its like.
long long total_of(const std::string& text) {
  for (const auto line : split_text(text, '\n')) {
    if (!line.starts_with("TOTAL_ERR")) continue;
    return parse_whole(trim(line.substr(line.find(' ') + 1))).value_or(0);
  }
  return 0;
}

void judge(const Inspection& inspection, const std::string& device, Report& report) {
  const auto add = [&](const FindingKind& kind, const std::string& file, long long least) {
    const auto path = folder_of(device) + "/" + file;
    const auto total = total_of(inspection.files.read(path).text);
    if (total < least) return;
    report.findings.push_back(
        make_finding(kind, {{"device", device}, {"count", std::to_string(total)}, {"file", path}},
                     {{path, "total " + std::to_string(total)}}, {device}));
  };
  add(corrected, "aer_dev_correctable", many_corrected);
  add(uncorrected, "aer_dev_nonfatal", 1);
  add(uncorrected, "aer_dev_fatal", 1);
}

// Only where links have trouble: elsewhere it is no fault.
void judge_managed_memory(const Inspection& inspection, Report& report) {
  constexpr const char* file = "/sys/module/nvidia_uvm/parameters/uvm_disable_hmm";
  const auto value = inspection.files.line(file);
  if (value && (*value == "Y" || *value == "1")) return;
  report.findings.push_back(make_finding(value ? managed_memory : unknown_memory, {{"file", file}},
                                         {{file, value.value_or("not readable")}}));
}

void run(const Inspection& inspection, Report& report) {
  const auto before = report.findings.size();
  std::vector<std::string> seen;
  for (const auto& gpu : inspection.topology.gpus) {
    auto devices = ports_above(inspection.files, to_string(gpu.address));
    devices.insert(devices.begin(), to_string(gpu.address));
    for (const auto& device : devices) {
      if (std::ranges::find(seen, device) != seen.end()) continue;
      seen.push_back(device);
      judge(inspection, device, report);
    }
  }
  if (report.findings.size() > before) judge_managed_memory(inspection, report);
}

}  // namespace

const Check aer_check = {"aer", kinds, run};

}  // namespace lanewise::host
