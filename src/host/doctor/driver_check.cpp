// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "doctor/checks.hpp"
#include "doctor/pci_ports.hpp"
#include "files/split_text.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind unseen = {
    .name = "driver-unknown",
    .severity = Severity::unknown,
    .title = "NVIDIA's driver is not visible",
    .why = "Its version and its parameters decide on peer access; without it no GPU works.",
    .fix = "on a host: sudo modprobe nvidia; in a container: start it with --gpus all",
    .undo = ""};

constexpr FindingKind forced = {
    .name = "driver-forced-peer",
    .severity = Severity::note,
    .title = "The driver is told to allow peer access that it would refuse: {words}",
    .why =
        "NCCL believes the driver. Boxes with a forced or patched driver were seen to return "
        "wrong data, with a display on a GPU or behind a bifurcated riser above all.",
    .fix = "lanewise-bench links    # writes between all pairs and verifies at the destination",
    .undo = "take the words out of NVreg_RegistryDwords in /etc/modprobe.d and reboot"};

constexpr FindingKind display = {
    .name = "display-on-forced-peer",
    .severity = Severity::slow,
    .title = "{gpus} drives a display while peer access is forced",
    .why =
        "With a forced driver, writes to a GPU with an active display were seen to be lost: the "
        "model prints rubbish.",
    .fix = "move the display to another card, or start the server with NCCL_P2P_DISABLE=1",
    .undo = "unset NCCL_P2P_DISABLE"};

constexpr FindingKind small_bar = {
    .name = "bar1-small",
    .severity = Severity::slow,
    .title = "{gpus} show {now} MiB of their memory on the bus and could show {possible} MiB",
    .why =
        "Peer access maps buffers through this window (BAR1): a small one runs out, and NCCL "
        "falls back to host memory.",
    .fix = "switch on Above 4G Decoding and Resizable BAR in the BIOS",
    .undo = "switch Resizable BAR off in the BIOS"};

constexpr FindingKind peer_limit = {
    .name = "peer-limit",
    .severity = Severity::note,
    .title = "{count} GPUs, and a GPU can map 8 others over PCI Express",
    .why =
        "With more than 9 GPUs in one communicator some pairs fail with 'peer mapping resources "
        "exhausted'.",
    .fix =
        "keep tensor-parallel groups at 8, or lower NCCL_P2P_LEVEL so that fewer pairs map each "
        "other",
    .undo = "unset NCCL_P2P_LEVEL"};

constexpr std::array kinds = {unseen, forced, display, small_bar, peer_limit};

// RegistryDwords: "ForceP2P=0x11;RMForceP2PType=1;...".
std::string forced_words(const std::string& parameters) {
  std::string words;
  for (const auto line : split_text(parameters, '\n')) {
    if (!line.starts_with("RegistryDwords:")) continue;
    auto text = trim(line.substr(line.find(':') + 1));
    std::erase(text, '"');
    for (const auto word : split_text(text, ';')) {
      if (word.find("P2P") == std::string_view::npos &&
          word.find("PciTopoCheck") == std::string_view::npos)
        continue;
      words += (words.empty() ? "" : ";") + trim(word);
    }
  }
  return words;
}

void judge_forced(const Inspection& inspection, Report& report) {
  constexpr std::string_view file = "/proc/driver/nvidia/params";
  const auto words = forced_words(inspection.files.read(file).text);
  if (words.empty()) return;
  report.findings.push_back(make_finding(forced, {{"words", words}}, {{std::string(file), words}}));
  for (std::size_t gpu = 0; gpu < inspection.topology.gpus.size(); ++gpu) {
    const auto* smi = inspection.smi.find(inspection.topology.gpus[gpu].address);
    if (smi == nullptr || smi->display != "Enabled") continue;
    report.findings.push_back(make_finding(display, {{"gpus", list_gpus({gpu})}},
                                           {{"nvidia-smi", "display_active: Enabled"}},
                                           addresses_of(inspection.topology, {gpu})));
  }
}

// Line 2 of `resource` is region 1: "0xSTART 0xEND 0xFLAGS".
long long bar1_mib(const MachineFiles& files, const std::string& folder) {
  const auto text = files.read(folder + "/resource").text;
  const auto lines = split_text(text, '\n');
  if (lines.size() < 2) return 0;
  const auto words = split_text(lines[1], ' ');
  if (words.size() < 2) return 0;
  const auto start = parse_whole(words[0], 16).value_or(0);
  const auto end = parse_whole(words[1], 16).value_or(0);
  return end > start ? (end - start + 1) >> 20 : 0;
}

// resource1_resize: a mask in hex, bit n for 2^n MiB.
long long largest_bar1_mib(const MachineFiles& files, const std::string& folder) {
  const auto text = files.line(folder + "/resource1_resize").value_or("");
  const auto mask = parse_whole(text, 16).value_or(0);
  long long largest = 0;
  for (int bit = 0; bit < 40; ++bit) {
    if ((mask >> bit & 1) != 0) largest = 1LL << bit;
  }
  return largest;
}

void judge_bar1(const Inspection& inspection, Report& report) {
  std::vector<std::size_t> gpus;
  long long now = 0;
  long long possible = 0;
  for (std::size_t gpu = 0; gpu < inspection.topology.gpus.size(); ++gpu) {
    const auto folder = folder_of(to_string(inspection.topology.gpus[gpu].address));
    const auto shown = bar1_mib(inspection.files, folder);
    const auto largest = largest_bar1_mib(inspection.files, folder);
    if (shown == 0 || largest <= shown) continue;
    gpus.push_back(gpu);
    now = shown;
    possible = largest;
  }
  if (gpus.empty()) return;
  const auto folder = folder_of(to_string(inspection.topology.gpus[gpus.front()].address));
  report.findings.push_back(make_finding(small_bar,
                                         {{"gpus", list_gpus(gpus)},
                                          {"now", std::to_string(now)},
                                          {"possible", std::to_string(possible)}},
                                         {{folder + "/resource", std::to_string(now) + " MiB"}},
                                         addresses_of(inspection.topology, gpus)));
}

void run(const Inspection& inspection, Report& report) {
  if (inspection.topology.gpus.empty()) return;
  if (!inspection.files.exists("/proc/driver/nvidia/version"))
    report.findings.push_back(
        make_finding(unseen, {}, {{"/proc/driver/nvidia/version", "missing"}}));
  if (!inspection.has_several_gpus()) return;
  judge_forced(inspection, report);
  judge_bar1(inspection, report);
  constexpr std::size_t most_mapped = 9;
  const auto count = inspection.topology.gpus.size();
  if (count > most_mapped && !inspection.topology.has_nvlink())
    report.findings.push_back(
        make_finding(peer_limit, {{"count", std::to_string(count)}},
                     {{"/sys/bus/pci/devices", std::to_string(count) + " GPUs"}}));
}

}  // namespace

const Check driver_check = {"driver", kinds, run};

}  // namespace lanewise::host
