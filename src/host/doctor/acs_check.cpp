// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <cstdio>

#include "doctor/checks.hpp"
#include "doctor/pci_ports.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind redirect = {
    .name = "acs-redirect",
    .severity = Severity::slow,
    .title = "ACS on {bridge} sends the peer transfers of {gpus} up to the root complex",
    .why =
        "What one GPU sends another turns at the root instead of at this switch: every hop of "
        "an all-reduce takes longer and shares the uplink; with IOMMU translation it may hang. "
        "Pairs: {pairs}.",
    .fix =
        "sudo setpci -s {bridge} ECAP_ACS+6.w={cleared}    # until the next boot; for good: "
        "ACS off in the BIOS",
    .undo = "sudo setpci -s {bridge} ECAP_ACS+6.w={control}"};

constexpr FindingKind egress = {
    .name = "acs-egress-control",
    .severity = Severity::note,
    .title = "ACS egress control is on at {bridge}, above {gpus}",
    .why =
        "The switch may block peer transfers between some of its ports; the other pairs are "
        "not slower for it.",
    .fix = "lanewise-bench links    # shows whether a pair is blocked",
    .undo = ""};

constexpr FindingKind unreadable = {
    .name = "acs-unknown",
    .severity = Severity::unknown,
    .title = "Whether ACS redirects peer transfers is not readable for {count} bridges",
    .why =
        "The control word lies beyond the first 64 bytes of the configuration space, which only "
        "root sees. The capability that lspci lists says nothing about it.",
    .fix = "sudo lanewise doctor",
    .undo = ""};

constexpr std::array kinds = {redirect, egress, unreadable};

// A bridge and the pairs of GPUs whose way to each other leads through it and turns at a switch.
struct SharedPort {
  std::string address;
  std::vector<std::size_t> gpus;
  std::vector<std::string> pairs;
};

using Ways = std::vector<std::vector<std::string>>;

void add_way(std::vector<SharedPort>& ports, const std::vector<std::string>& way,
             const std::string& turn, std::size_t gpu, const std::string& pair) {
  for (const auto& address : way) {
    auto found = std::ranges::find(ports, address, &SharedPort::address);
    if (found == ports.end()) found = ports.insert(ports.end(), {.address = address});
    if (std::ranges::find(found->gpus, gpu) == found->gpus.end()) found->gpus.push_back(gpu);
    if (std::ranges::find(found->pairs, pair) == found->pairs.end()) found->pairs.push_back(pair);
    if (address == turn) return;
  }
}

// The first port above both; empty where they meet only at the root complex, which decides there
// whatever ACS says.
std::string find_turn(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  const auto found = std::ranges::find_if(
      one, [&](const std::string& port) { return std::ranges::find(other, port) != other.end(); });
  return found == one.end() ? std::string() : *found;
}

std::vector<SharedPort> find_shared_ports(const Inspection& inspection) {
  Ways ways;
  for (const auto& gpu : inspection.topology.gpus)
    ways.push_back(ports_above(inspection.files, to_string(gpu.address)));
  std::vector<SharedPort> ports;
  for (std::size_t one = 0; one < ways.size(); ++one) {
    for (std::size_t other = one + 1; other < ways.size(); ++other) {
      const auto turn = find_turn(ways[one], ways[other]);
      if (turn.empty()) continue;
      const auto pair = std::to_string(one) + "-" + std::to_string(other);
      add_way(ports, ways[one], turn, one, pair);
      add_way(ports, ways[other], turn, other, pair);
    }
  }
  return ports;
}

std::string hex_word(unsigned word) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04x", word);
  return text.data();
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void judge(const Inspection& inspection, const SharedPort& port, const AcsControl& acs,
           Report& report) {
  if (!acs.redirects() && !acs.has_egress_control()) return;
  const Places places = {{"bridge", port.address},
                         {"gpus", list_gpus(port.gpus)},
                         {"pairs", join(port.pairs)},
                         {"control", hex_word(acs.control)},
                         {"cleared", hex_word(acs.control & ~0x000cU)}};
  auto devices = addresses_of(inspection.topology, port.gpus);
  devices.push_back(port.address);
  report.findings.push_back(make_finding(
      acs.redirects() ? redirect : egress, places,
      {{folder_of(port.address) + "/config", "ACSCtl at " +
                                                 hex_word(static_cast<unsigned>(acs.offset + 6)) +
                                                 ": " + hex_word(acs.control)}},
      std::move(devices)));
}

void run(const Inspection& inspection, Report& report) {
  // A guest's bridges are made up; what the host's do is not visible in it.
  if (!inspection.has_several_gpus() || inspection.topology.is_guest) return;
  std::vector<std::string> hidden;
  for (const auto& port : find_shared_ports(inspection)) {
    const auto acs = read_acs(inspection.files, port.address);
    if (acs.state == AcsState::unreadable) hidden.push_back(port.address);
    if (acs.state == AcsState::read) judge(inspection, port, acs, report);
  }
  if (hidden.empty()) return;
  report.findings.push_back(make_finding(
      unreadable, {{"count", std::to_string(hidden.size())}},
      {{folder_of(hidden.front()) + "/config", "64 bytes or fewer are readable"}}, hidden));
}

}  // namespace

const Check acs_check = {"acs", kinds, run};

}  // namespace lanewise::host
