// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>

#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind balancing = {
    .name = "numa-balancing",
    .severity = Severity::note,
    .title = "The kernel moves memory between NUMA nodes by itself",
    .why =
        "Automatic NUMA balancing unmaps pages to see who uses them: the threads that launch "
        "all-reduces stall now and then.",
    .fix = "sudo sysctl kernel.numa_balancing=0",
    .undo = "sudo sysctl kernel.numa_balancing={value}"};

constexpr FindingKind governor = {
    .name = "cpu-powersave",
    .severity = Severity::slow,
    .title = "The processor is held at its lowest clock (governor powersave of acpi-cpufreq)",
    .why = "Launching, the proxy threads and transfers through host memory all take longer.",
    .fix = "sudo cpupower frequency-set -g performance",
    .undo = "sudo cpupower frequency-set -g powersave"};

constexpr FindingKind aspm = {
    .name = "aspm-powersave",
    .severity = Severity::slow,
    .title = "PCI Express links may sleep between transfers (ASPM policy {policy})",
    .why =
        "Small all-reduces are latency alone: a link that has to wake adds microseconds to each "
        "hop, and flapping links were seen with it.",
    .fix = "echo performance | sudo tee /sys/module/pcie_aspm/parameters/policy",
    .undo = "echo {policy} | sudo tee /sys/module/pcie_aspm/parameters/policy"};

constexpr std::array kinds = {balancing, governor, aspm};

void judge_balancing(const Inspection& inspection, Report& report) {
  constexpr std::string_view file = "/proc/sys/kernel/numa_balancing";
  const auto value = inspection.files.number(file).value_or(0);
  if (value == 0 || inspection.topology.numa_nodes.size() < 2) return;
  report.findings.push_back(make_finding(balancing, {{"value", std::to_string(value)}},
                                         {{std::string(file), std::to_string(value)}}));
}

// The powersave of intel_pstate and amd-pstate is another one: it follows the load.
void judge_governor(const Inspection& inspection, Report& report) {
  constexpr std::string_view folder = "/sys/devices/system/cpu/cpu0/cpufreq/";
  const auto name = inspection.files.line(std::string(folder) + "scaling_governor").value_or("");
  const auto driver = inspection.files.line(std::string(folder) + "scaling_driver").value_or("");
  if (name != "powersave" || driver != "acpi-cpufreq") return;
  report.findings.push_back(make_finding(
      governor, {}, {{std::string(folder) + "scaling_governor", name + ", driver " + driver}}));
}

// "default performance [powersave] powersupersave".
void judge_aspm(const Inspection& inspection, Report& report) {
  constexpr std::string_view file = "/sys/module/pcie_aspm/parameters/policy";
  const auto text = inspection.files.line(file).value_or("");
  const auto open = text.find('[');
  const auto close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return;
  const auto policy = text.substr(open + 1, close - open - 1);
  if (!policy.starts_with("power")) return;
  report.findings.push_back(make_finding(aspm, {{"policy", policy}}, {{std::string(file), text}}));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus()) return;
  judge_balancing(inspection, report);
  judge_governor(inspection, report);
  judge_aspm(inspection, report);
}

}  // namespace

const Check power_check = {"power", kinds, run};

}  // namespace lanewise::host
