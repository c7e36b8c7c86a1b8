// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "doctor/checks.hpp"
#include "doctor/hazards.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view system_file = "/etc/lanewise/hazards.json";

// One kind a severity: the texts are the table's.
constexpr std::string_view title = "NCCL {release}: {symptom}";
constexpr std::string_view why = "Known of this release on these GPUs: {source}";

constexpr FindingKind broken = {.name = "nccl-hazard-broken",
                                .severity = Severity::broken,
                                .title = title,
                                .why = why,
                                .fix = "{fix}",
                                .undo = "install the release that was there"};
constexpr FindingKind slow = {.name = "nccl-hazard-slow",
                              .severity = Severity::slow,
                              .title = title,
                              .why = why,
                              .fix = "{fix}",
                              .undo = "install the release that was there"};
constexpr FindingKind note = {.name = "nccl-hazard-note",
                              .severity = Severity::note,
                              .title = title,
                              .why = why,
                              .fix = "{fix}",
                              .undo = ""};

constexpr std::array kinds = {broken, slow, note};

const FindingKind& kind_of(Severity severity) {
  return *std::ranges::find(kinds, severity, &FindingKind::severity);
}

std::vector<Hazard> read_hazards(const Inspection& inspection) {
  auto hazards = bundled_hazards();
  const auto add = [&](const std::filesystem::path& path) {
    for (auto& hazard : parse_hazards(read_text_file(path), path.string()))
      hazards.push_back(std::move(hazard));
  };
  if (inspection.files.exists(system_file)) add(inspection.files.at(system_file));
  if (!inspection.request.hazards.empty()) add(inspection.request.hazards);
  return hazards;
}

std::string source_of(const Inspection& inspection) {
  for (const auto& file : inspection.nccl_files) {
    if (file.release == inspection.nccl) return file.path;
  }
  return "--nccl";
}

void run(const Inspection& inspection, Report& report) {
  // Read in any case: a file of the user's that is wrong must be named.
  const auto hazards = read_hazards(inspection);
  if (!inspection.nccl) return;
  for (const auto& hazard : hazards) {
    const auto applies = [&](const Gpu& gpu) {
      return hazard.applies_to(*inspection.nccl, gpu.compute_capability);
    };
    if (!std::ranges::any_of(inspection.topology.gpus, applies)) continue;
    report.findings.push_back(make_finding(kind_of(hazard.severity),
                                           {{"release", to_string(*inspection.nccl)},
                                            {"symptom", hazard.symptom},
                                            {"source", hazard.source},
                                            {"fix", hazard.fix}},
                                           {{source_of(inspection), to_string(*inspection.nccl)}}));
  }
}

}  // namespace

const Check hazard_check = {"hazards", kinds, run};

}  // namespace lanewise::host
