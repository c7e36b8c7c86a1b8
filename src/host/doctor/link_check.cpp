// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "core/doctor/link_samples.hpp"
#include "doctor/checks.hpp"
#include "doctor/pci_ports.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind narrow = {
    .name = "link-narrow",
    .severity = Severity::slow,
    .title = "The link from {lower} to {upper} runs on {now} lanes of {lanes}",
    .why =
        "Lanes do not sleep: a narrow link was trained so, by a riser, a cable, a slot or dirt "
        "on the contacts. Every all-reduce of {gpus} moves at its pace.",
    .fix = "reseat the card, its riser and its cables; then sudo lspci -vvs {lower} | grep LnkSta:",
    .undo = ""};

constexpr FindingKind stuck = {
    .name = "link-stuck",
    .severity = Severity::slow,
    .title =
        "The link from {lower} to {upper} runs at Gen{now} of Gen{generation}, and the GPU "
        "is at work ({state})",
    .why =
        "An idle GPU lowers its link to Gen1 and this is no fault; one that is at work does not. "
        "Bandwidth halves with each generation.",
    .fix =
        "update the BIOS, set the slot to Gen{generation} there, try another riser; then, under "
        "load: sudo lspci -vvs {lower} | grep LnkSta:",
    .undo = ""};

constexpr FindingKind flapping = {
    .name = "link-flapping",
    .severity = Severity::slow,
    .title =
        "The link from {lower} to {upper} falls below Gen{generation} again and again, and the GPU "
        "is at work ({state})",
    .why =
        "It does not hold its generation: each new training stops all traffic for milliseconds. "
        "Risers, cables and power saving are the usual causes.",
    .fix =
        "set the slot one generation lower in the BIOS, or switch ASPM off (pcie_aspm=off on the "
        "kernel's command line); reseat the card and its riser",
    .undo = "set it back in the BIOS; take the word out again"};

constexpr FindingKind by_design = {
    .name = "link-by-design",
    .severity = Severity::note,
    .title = "The slot of {gpus} has {lanes} lanes for a card of {wanted}",
    .why =
        "This is how the board is made, not a fault: half the lanes are half the bandwidth, "
        "and small all-reduces hardly feel it.",
    .fix = "move the card to a slot of {wanted} lanes if there is one",
    .undo = ""};

constexpr FindingKind hop = {
    .name = "link-narrow-hop",
    .severity = Severity::slow,
    .title = "Above {gpus} the link at {lower} can do {hop}, the GPU's {own}",
    .why =
        "The narrowest hop to the processor sets the pace: a chipset's or a switch's uplink is "
        "shared with all that hangs below it.",
    .fix = "move the card to a slot that hangs on the processor",
    .undo = ""};

constexpr FindingKind older_hop = {
    .name = "link-older-hop",
    .severity = Severity::note,
    .title = "Above {gpus} the link at {lower} says {hop}, the GPU's {own}",
    .why =
        "The processor or the switch may be of an older generation than the GPU, and some "
        "switches say less than they do: only a measurement tells. All lanes are there.",
    .fix = "lanewise-bench links    # what the way really carries",
    .undo = ""};

constexpr std::array kinds = {narrow, stuck, flapping, by_design, hop, older_hop};

PciLink narrower(const PciLink& one, const PciLink& other) {
  if (!one.is_known() || !other.is_known()) return one.is_known() ? one : other;
  return {.generation = std::min(one.generation, other.generation),
          .width = std::min(one.width, other.width)};
}

struct Hop {
  std::string lower;
  std::string upper;
  PciLink now;
  PciLink lower_maximum;
  PciLink maximum;  // of both ends
};

// A function's link leads to the port above it; between the two sides of a switch there is none.
std::vector<Hop> hops_of(const MachineFiles& files, const std::string& gpu) {
  std::vector<std::string> way = {gpu};
  for (auto& port : ports_above(files, gpu)) way.push_back(std::move(port));
  std::vector<Hop> hops;
  for (std::size_t index = 0; index + 1 < way.size(); index += 2) {
    const auto lower = read_link_state(files, way[index]);
    const auto upper = read_link_state(files, way[index + 1]);
    hops.push_back({.lower = way[index],
                    .upper = way[index + 1],
                    .now = lower.now.is_known() ? lower.now : upper.now,
                    .lower_maximum = lower.maximum,
                    .maximum = narrower(lower.maximum, upper.maximum)});
  }
  return hops;
}

// P0 to P2 are states of work.
std::string working_state(const Inspection& inspection, const Gpu& gpu) {
  const auto* smi = inspection.smi.find(gpu.address);
  if (smi == nullptr) return {};
  constexpr std::array<std::string_view, 3> working = {"P0", "P1", "P2"};
  return std::ranges::find(working, smi->power_state) == working.end() ? std::string()
                                                                       : smi->power_state;
}

// The generations of a link, by its lower end.
using Samples = std::map<std::string, std::vector<int>>;

// Of a recorded machine one each; of this one a fifth of a second's, which is longer than a link
// takes to wake, all links in turns.
Samples sample_links(const Inspection& inspection, const std::vector<Hop>& hops) {
  constexpr int rounds = 10;
  constexpr std::chrono::milliseconds between{20};
  Samples samples;
  for (const auto& way : hops) samples[way.lower] = {way.now.generation};
  for (int round = 1; round < rounds && inspection.request.root == "/" && !hops.empty(); ++round) {
    std::this_thread::sleep_for(between);
    for (auto& [device, generations] : samples)
      if (const auto now = read_link_state(inspection.files, device).now; now.is_known())
        generations.push_back(now.generation);
  }
  return samples;
}

struct Place {
  const Inspection& inspection;
  const Samples& samples;  // of working GPUs' links
  std::size_t gpu;
  Report& report;

  [[nodiscard]] bool is_reported(const FindingKind& kind, const Hop& way) const {
    return std::ranges::any_of(report.findings, [&](const Finding& finding) {
      return finding.name == kind.name &&
             std::ranges::find(finding.devices, way.lower) != finding.devices.end();
    });
  }

  // A hop that several GPUs share is reported once.
  void add(const FindingKind& kind, const Hop& way, Places places, const std::string& file,
           const std::string& value) const {
    if (is_reported(kind, way)) return;
    places.emplace("gpus", list_gpus({gpu}));
    places.emplace("lower", way.lower);
    places.emplace("upper", way.upper);
    report.findings.push_back(
        make_finding(kind, places, {{folder_of(way.lower) + "/" + file, value}},
                     {to_string(inspection.topology.gpus[gpu].address), way.lower}));
  }
};

void judge_state(const Place& place, const Hop& way, const std::string& state) {
  if (!way.now.is_known() || !way.maximum.is_known()) return;
  if (way.now.width < way.maximum.width)
    place.add(
        narrow, way,
        {{"now", std::to_string(way.now.width)}, {"lanes", std::to_string(way.maximum.width)}},
        "current_link_width", std::to_string(way.now.width));
  if (state.empty()) return;
  const auto course = judge_samples(place.samples.at(way.lower), way.maximum.generation);
  if (course != LinkCourse::stuck && course != LinkCourse::flapping) return;
  place.add(course == LinkCourse::stuck ? stuck : flapping, way,
            {{"now", std::to_string(way.now.generation)},
             {"generation", std::to_string(way.maximum.generation)},
             {"state", state}},
            "current_link_speed", describe(way.now));
}

void judge_capability(const Place& place, const std::vector<Hop>& hops) {
  const auto& own = hops.front().lower_maximum;
  if (!own.is_known()) return;
  const auto& slot = hops.front().maximum;
  if (slot.width < own.width)
    place.add(by_design, hops.front(),
              {{"lanes", std::to_string(slot.width)}, {"wanted", std::to_string(own.width)}},
              "max_link_width", std::to_string(own.width));
  for (std::size_t index = 1; index < hops.size(); ++index) {
    const auto& link = hops[index].maximum;
    if (!link.is_known() || link.gigabytes_per_second() > 0.6 * slot.gigabytes_per_second())
      continue;
    const bool has_all_lanes = link.width >= slot.width;
    place.add(has_all_lanes ? older_hop : hop, hops[index],
              {{"hop", describe(link)}, {"own", describe(slot)}},
              has_all_lanes ? "max_link_speed" : "max_link_width", describe(link));
    return;
  }
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.has_several_gpus() || inspection.topology.is_guest) return;
  const auto& gpus = inspection.topology.gpus;
  std::vector<std::vector<Hop>> ways;
  std::vector<Hop> working;
  for (const Gpu& gpu : gpus) {
    ways.push_back(hops_of(inspection.files, to_string(gpu.address)));
    if (!working_state(inspection, gpu).empty())
      working.insert(working.end(), ways.back().begin(), ways.back().end());
  }
  const auto samples = sample_links(inspection, working);
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if (ways[gpu].empty()) continue;
    const Place place{inspection, samples, gpu, report};
    for (const auto& each : ways[gpu])
      judge_state(place, each, working_state(inspection, gpus[gpu]));
    judge_capability(place, ways[gpu]);
  }
}

}  // namespace

const Check link_check = {"links", kinds, run};

}  // namespace lanewise::host
