// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <numeric>

#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view without_peers =
    "export NCCL_P2P_DISABLE=1    # until what `lanewise doctor` says of IOMMU and ACS is mended";

constexpr FindingKind peer_fails = {
    .name = "peer-access-fails",
    .severity = Severity::broken,
    .title = "Peer access of {count} pairs of GPUs does not work: {pair}: {error}",
    .why =
        "What one GPU wrote did not come, or not whole, at the other, as a kernel there saw: "
        "all-reduces hang or sum wrongly, whatever the driver says of peer access.",
    .fix = without_peers,
    .undo = "unset NCCL_P2P_DISABLE"};

constexpr FindingKind host_fails = {
    .name = "host-memory-fails",
    .severity = Severity::broken,
    .title = "Host memory between {count} pairs of GPUs does not work: {pair}: {error}",
    .why = "NCCL has no way left between them on this machine.",
    .fix = "sudo dmesg | grep -E 'AER|Xid|DMAR|AMD-Vi'",
    .undo = ""};

constexpr FindingKind one_way = {
    .name = "peer-access-one-way-slow",
    .severity = Severity::slow,
    .title = "{pair} carries {slow} GB/s by peer access, the other direction {fast}",
    .why = "A ring goes through each link in one direction: the slow one sets its pace.",
    .fix = "sudo lanewise doctor    # ACS, links and errors on the way between them",
    .undo = ""};

constexpr FindingKind host_faster = {
    .name = "peer-access-slower-than-host",
    .severity = Severity::slow,
    .title = "{pair} carries {slow} GB/s by peer access, {fast} through host memory",
    .why = "NCCL prefers peer access wherever the driver gives it.",
    .fix =
        "lanewise-bench environments --environment NCCL_P2P_DISABLE=1    # what it is worth here; "
        "then export NCCL_P2P_DISABLE=1",
    .undo = "unset NCCL_P2P_DISABLE"};

constexpr FindingKind collapse = {
    .name = "writes-collapse",
    .severity = Severity::slow,
    .title = "{name}: {together} GB/s together, where one flow alone has {alone}",
    .why =
        "Flows that share an uplink share its bandwidth; here they lose it: posted writes of a "
        "switch that is cut into virtual ones collapse so.",
    .fix =
        "lanewise-bench tune    # finds choices and rings that avoid it; and ask for a firmware of "
        "the switch without it",
    .undo = ""};

constexpr FindingKind not_measured = {
    .name = "links-not-measured",
    .severity = Severity::unknown,
    .title = "The links were not measured: {reason}",
    .why = "Only a measurement shows whether peer access works and how fast it is.",
    .fix = "lanewise-bench links    # what it says by itself",
    .undo = ""};

constexpr std::array kinds = {peer_fails, host_fails, one_way, host_faster, collapse, not_measured};

// Of two directions, and of peer access over host memory: above what a repeat differs by.
constexpr double clearly = 1.5;
// A fair share of one uplink is all of it.
constexpr double least_of_uplink = 0.6;

std::string whole_or_tenth(double number) {
  const auto tenths = std::to_string(static_cast<long long>(number * 10 + 0.5));
  return tenths.size() < 2 ? "0." + tenths
                           : tenths.substr(0, tenths.size() - 1) + "." + tenths.back();
}

std::string name_of_pair(const MeasuredPair& pair) { return pair.from + " to " + pair.to; }

std::vector<Observation> seen(const std::string& value) {
  return {{"lanewise-bench links", value}};
}

void judge_faults(const MeasuredLinks& links, bool is_peer, Report& report) {
  const MeasuredPair* first = nullptr;
  int count = 0;
  for (const auto& pair : links.pairs) {
    if (pair.is_peer != is_peer || pair.error.empty()) continue;
    if (first == nullptr) first = &pair;
    ++count;
  }
  if (first == nullptr) return;
  report.findings.push_back(make_finding(
      is_peer ? peer_fails : host_fails,
      {{"count", std::to_string(count)}, {"pair", name_of_pair(*first)}, {"error", first->error}},
      seen(first->error), {first->from, first->to}));
}

const MeasuredPair* find(const MeasuredLinks& links, const MeasuredPair& like, bool is_peer,
                         bool is_back) {
  const auto found = std::ranges::find_if(links.pairs, [&](const MeasuredPair& pair) {
    return pair.is_peer == is_peer && pair.one_way_gbs && pair.error.empty() &&
           pair.from == (is_back ? like.to : like.from) &&
           pair.to == (is_back ? like.from : like.to);
  });
  return found == links.pairs.end() ? nullptr : &*found;
}

void judge_rates(const MeasuredLinks& links, Report& report) {
  for (const auto& pair : links.pairs) {
    if (!pair.is_peer || !pair.one_way_gbs || !pair.error.empty()) continue;
    const auto add = [&](const FindingKind& kind, const MeasuredPair* other) {
      if (other == nullptr || *other->one_way_gbs < clearly * *pair.one_way_gbs) return;
      const auto slow = whole_or_tenth(*pair.one_way_gbs);
      report.findings.push_back(make_finding(kind,
                                             {{"pair", name_of_pair(pair)},
                                              {"slow", slow},
                                              {"fast", whole_or_tenth(*other->one_way_gbs)}},
                                             seen(slow + " GB/s"), {pair.from, pair.to}));
    };
    add(one_way, find(links, pair, true, true));
    add(host_faster, find(links, pair, false, false));
  }
}

void judge_contention(const MeasuredContention& result, Report& report) {
  if (!result.error.empty() || result.together_gbs.empty() || result.alone_gbs.empty()) return;
  const double together =
      std::accumulate(result.together_gbs.begin(), result.together_gbs.end(), 0.0);
  const double alone = std::ranges::max(result.alone_gbs);
  if (together >= least_of_uplink * alone) return;
  report.findings.push_back(make_finding(collapse,
                                         {{"name", result.name},
                                          {"together", whole_or_tenth(together)},
                                          {"alone", whole_or_tenth(alone)}},
                                         seen(whole_or_tenth(together) + " GB/s")));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.links) return;
  const auto& links = *inspection.links;
  if (!links.failure.empty())
    report.findings.push_back(
        make_finding(not_measured, {{"reason", links.failure}}, seen(links.failure)));
  judge_faults(links, true, report);
  judge_faults(links, false, report);
  judge_rates(links, report);
  for (const auto& result : links.contention) judge_contention(result, report);
}

}  // namespace

const Check measured_links_check = {"measured links", kinds, run};

}  // namespace lanewise::host
