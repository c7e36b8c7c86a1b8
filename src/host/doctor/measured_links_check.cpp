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
    .title =
        "{count} pairs of GPUs are slower in one direction: {pair} carries {slow} GB/s by peer "
        "access, "
        "back {fast}",
    .why = "A ring goes through each link in one direction: the slow one sets its pace.",
    .fix = "sudo lanewise doctor    # ACS, links and errors on the way between them",
    .undo = ""};

constexpr FindingKind host_faster = {
    .name = "peer-access-slower-than-host",
    .severity = Severity::slow,
    .title =
        "Peer access of {count} pairs of GPUs is slower than host memory: {pair} carries {slow} "
        "GB/s, "
        "else {fast}",
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

// One finding for all pairs, with the one that loses most.
void judge_rates(const MeasuredLinks& links, const FindingKind& kind, bool is_peer, bool is_back,
                 Report& report) {
  const MeasuredPair* worst = nullptr;
  double fast = 0;
  double most = 0;
  int count = 0;
  for (const auto& pair : links.pairs) {
    if (!pair.is_peer || !pair.one_way_gbs || !pair.error.empty()) continue;
    const auto* other = find(links, pair, is_peer, is_back);
    if (other == nullptr || *other->one_way_gbs < clearly * *pair.one_way_gbs) continue;
    ++count;
    const double loss = *other->one_way_gbs / *pair.one_way_gbs;
    if (loss <= most) continue;
    worst = &pair;
    fast = *other->one_way_gbs;
    most = loss;
  }
  if (worst == nullptr) return;
  const auto slow = fixed(*worst->one_way_gbs, 1);
  report.findings.push_back(make_finding(kind,
                                         {{"count", std::to_string(count)},
                                          {"pair", name_of_pair(*worst)},
                                          {"slow", slow},
                                          {"fast", fixed(fast, 1)}},
                                         seen(slow + " GB/s"), {worst->from, worst->to}));
}

void judge_contention(const MeasuredContention& result, Report& report) {
  if (!result.error.empty() || result.together_gbs.empty() || result.alone_gbs.empty()) return;
  const double together =
      std::accumulate(result.together_gbs.begin(), result.together_gbs.end(), 0.0);
  const double alone = std::ranges::max(result.alone_gbs);
  if (together >= least_of_uplink * alone) return;
  report.findings.push_back(make_finding(
      collapse,
      {{"name", result.name}, {"together", fixed(together, 1)}, {"alone", fixed(alone, 1)}},
      seen(fixed(together, 1) + " GB/s")));
}

void run(const Inspection& inspection, Report& report) {
  if (!inspection.links) return;
  const auto& links = *inspection.links;
  if (!links.failure.empty())
    report.findings.push_back(
        make_finding(not_measured, {{"reason", links.failure}}, seen(links.failure)));
  judge_faults(links, true, report);
  judge_faults(links, false, report);
  judge_rates(links, one_way, true, true, report);
  judge_rates(links, host_faster, false, false, report);
  for (const auto& result : links.contention) judge_contention(result, report);
}

}  // namespace

const Check measured_links_check = {"measured links", kinds, run};

}  // namespace lanewise::host
