// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "doctor/checks.hpp"

namespace lanewise::host {
namespace {

constexpr FindingKind hidden = {
    .name = "process-hidden",
    .severity = Severity::unknown,
    .title = "{file} of the process is not readable",
    .why = "Its variables and libraries decide what NCCL does; those of this shell may be others.",
    .fix = "sudo lanewise doctor --pid {pid}",
    .undo = ""};

constexpr FindingKind absent = {
    .name = "nccl-not-loaded",
    .severity = Severity::unknown,
    .title = "Process {pid} has not loaded NCCL",
    .why =
        "It may be the launcher and not a rank: workers are processes of their own. A libnccl "
        "that is linked into another library is not seen either.",
    .fix = "pgrep -af 'sglang|vllm|python'    # then --pid of a worker",
    .undo = ""};

constexpr FindingKind several = {
    .name = "nccl-several",
    .severity = Severity::note,
    .title = "Several NCCL libraries of different releases: {releases}",
    .why =
        "torch and PyNccl may use different ones, and a profile or advice for one is wrong for "
        "the other. The release is in the file; packages and NCCL_VERSION name another one.",
    .fix =
        "lanewise doctor --pid PID    # of a running rank shows the ones in use; set "
        "VLLM_NCCL_SO_PATH or SGLANG_NCCL_SO_PATH to torch's file to have one",
    .undo = "unset VLLM_NCCL_SO_PATH SGLANG_NCCL_SO_PATH"};

constexpr FindingKind version_variable = {
    .name = "nccl-version-variable",
    .severity = Severity::note,
    .title = "NCCL_VERSION says {value}, the library is {release}",
    .why = "Images set NCCL_VERSION for their build. Nothing reads it at run time.",
    .fix = "none needed; do not go by it",
    .undo = ""};

constexpr std::array kinds = {hidden, absent, several, version_variable};

void judge_process(const Inspection& inspection, Report& report) {
  if (!inspection.request.pid) return;
  const auto pid = std::to_string(*inspection.request.pid);
  for (const char* name : {"environ", "maps"}) {
    const auto file = "/proc/" + pid + "/" + name;
    const auto state = inspection.files.read(file).state;
    if (state == ReadState::read) continue;
    report.findings.push_back(make_finding(hidden, {{"file", file}, {"pid", pid}},
                                           {{file, std::string(name_of(state))}}));
    return;
  }
  if (!inspection.is_nccl_mapped)
    report.findings.push_back(
        make_finding(absent, {{"pid", pid}}, {{"/proc/" + pid + "/maps", "no libnccl"}}));
}

void judge_releases(const Inspection& inspection, Report& report) {
  std::string releases;
  std::vector<Observation> seen;
  std::vector<NcclRelease> different;
  for (const auto& file : inspection.nccl_files) {
    if (!file.release) continue;
    seen.push_back({file.path, to_string(*file.release)});
    if (std::ranges::find(different, *file.release) != different.end()) continue;
    different.push_back(*file.release);
    releases += (releases.empty() ? "" : ", ") + to_string(*file.release);
  }
  if (different.size() > 1)
    report.findings.push_back(make_finding(several, {{"releases", releases}}, std::move(seen)));
}

void run(const Inspection& inspection, Report& report) {
  judge_process(inspection, report);
  judge_releases(inspection, report);
  const auto* variable = inspection.find_variable("NCCL_VERSION");
  if (variable == nullptr || !inspection.nccl) return;
  const auto release = to_string(*inspection.nccl);
  // Also a package's "2.28.9-1".
  if (variable->value.starts_with(release)) return;
  report.findings.push_back(
      make_finding(version_variable, {{"value", variable->value}, {"release", release}},
                   {{"NCCL_VERSION (" + variable->origin + ")", variable->value}}));
}

}  // namespace

const Check nccl_check = {"nccl", kinds, run};

}  // namespace lanewise::host
