// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "core/doctor/plugin_lookup.hpp"
#include "core/profile/launch_plan.hpp"
#include "doctor/checks.hpp"
#include "doctor/elf_symbols.hpp"
#include "doctor/process_view.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view set_ours =
    "eval \"$(lanewise env)\"    # or start the server by: lanewise run -- COMMAND";

constexpr FindingKind unset = {
    .name = "tuner-not-set",
    .severity = Severity::note,
    .title = "NCCL_TUNER_PLUGIN is not set: NCCL chooses by itself",
    .why =
        "Lanewise is asked by no all-reduce. NCCL loads {names} by itself where it finds it, "
        "and it does not here.",
    .fix = set_ours,
    .undo = "unset NCCL_TUNER_PLUGIN"};

constexpr FindingKind not_found = {
    .name = "tuner-not-found",
    .severity = Severity::slow,
    .title = "NCCL {release} finds no file for NCCL_TUNER_PLUGIN={value}",
    .why =
        "It tries {names}, says so only under NCCL_DEBUG=INFO, and chooses by itself. A failed "
        "load is remembered for the life of the process.",
    .fix = set_ours,
    .undo = "unset NCCL_TUNER_PLUGIN"};

constexpr FindingKind path_refused = {
    .name = "tuner-path-refused",
    .severity = Severity::slow,
    .title = "NCCL {release} does not take a path in NCCL_TUNER_PLUGIN",
    .why = "It tries {names} alone, which is no file. The short name works in every release.",
    .fix =
        "export NCCL_TUNER_PLUGIN=lanewise LD_LIBRARY_PATH=FOLDER_OF_THE_PLUGIN:$LD_LIBRARY_PATH",
    .undo = "unset NCCL_TUNER_PLUGIN"};

constexpr FindingKind cut = {
    .name = "tuner-name-cut",
    .severity = Severity::slow,
    .title = "NCCL_TUNER_PLUGIN is longer than the 254 characters that NCCL {release} keeps",
    .why = "The rest is cut off without a word and no file is found.",
    .fix = set_ours,
    .undo = "unset NCCL_TUNER_PLUGIN"};

constexpr FindingKind in_program = {
    .name = "tuner-static",
    .severity = Severity::slow,
    .title = "NCCL takes NCCL_TUNER_PLUGIN={value} for STATIC_PLUGIN",
    .why = "Any beginning of that word, in any case, means the main program itself and no file.",
    .fix = set_ours,
    .undo = "unset NCCL_TUNER_PLUGIN"};

constexpr FindingKind off = {.name = "tuner-off",
                             .severity = Severity::note,
                             .title = "NCCL_TUNER_PLUGIN={value} switches tuners off",
                             .why = "NCCL chooses by itself, whatever is installed.",
                             .fix = set_ours,
                             .undo = "export NCCL_TUNER_PLUGIN={value}"};

constexpr FindingKind other = {.name = "tuner-other",
                               .severity = Severity::note,
                               .title = "NCCL's tuner is {file}, not Lanewise",
                               .why = "NCCL takes one tuner. Lanewise is asked by no all-reduce.",
                               .fix = set_ours,
                               .undo = "export NCCL_TUNER_PLUGIN={value}"};

constexpr FindingKind wrong_file = {
    .name = "tuner-unusable",
    .severity = Severity::slow,
    .title = "NCCL {release} cannot use {file} as a tuner: {reason}",
    .why =
        "The first file that opens is the one; where it cannot be used, NCCL looks no further "
        "and chooses by itself.",
    .fix = "install the plugin of this Lanewise: {symbols}",
    .undo = ""};

constexpr FindingKind wrong_variable = {
    .name = "tuner-as-net",
    .severity = Severity::note,
    .title = "Lanewise is named in NCCL_NET_PLUGIN alone",
    .why =
        "NCCL then loads it as a net plugin that has no devices and takes the tuner from it. "
        "This works; NCCL_TUNER_PLUGIN says it plainly and does not touch the network's choice.",
    .fix = set_ours,
    .undo = "export NCCL_NET_PLUGIN={value}"};

constexpr std::array kinds = {unset, not_found, path_refused, cut,           in_program,
                              off,   other,     wrong_file,   wrong_variable};

// By the rules of this one where no NCCL is known: the newest whose source was read.
constexpr NcclRelease assumed_release{2, 30, 7};

std::string join(const std::vector<std::string>& words, std::string_view separator = ", then ") {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : std::string(separator)) + word;
  return text;
}

struct Scene {
  const Inspection& inspection;
  std::string value;
  std::string origin;
  NcclRelease release;
  TunerLookup lookup;

  [[nodiscard]] Places places() const {
    const auto name = inspection.nccl ? to_string(release) : to_string(release) + " (assumed)";
    return {{"value", value}, {"release", name}, {"names", join(lookup.names)}};
  }
  [[nodiscard]] Observation variable() const {
    return {"NCCL_TUNER_PLUGIN" + (origin.empty() ? "" : " (" + origin + ")"),
            value.empty() ? "not set" : value};
  }
  void add(const FindingKind& kind, Report& report) const {
    report.findings.push_back(make_finding(kind, places(), {variable()}));
  }
};

std::string find_file(const Scene& scene) {
  const auto& files = scene.inspection.process_files;
  const auto folders = loader_folders(scene.inspection);
  for (const auto& name : scene.lookup.names) {
    if (name.find('/') != std::string::npos) {
      if (name.starts_with('/') && files.exists(name)) return name;
      continue;
    }
    for (const auto& folder : folders) {
      if (files.exists(folder + "/" + name)) return folder + "/" + name;
    }
  }
  return {};
}

void judge_file(const Scene& scene, const std::string& file, Report& report) {
  auto places = scene.places();
  places.emplace("file", file);
  const auto wanted = tuner_symbols(scene.release);
  places.emplace("symbols", join(wanted, ", "));
  const auto library = read_elf_symbols(scene.inspection.process_files, file);
  const auto has = [&](const std::string& symbol) { return library.exports(symbol); };
  if (!library.problem.empty() || std::ranges::none_of(wanted, has)) {
    places.emplace("reason", library.problem.empty() ? "it has none of " + join(wanted, ", ")
                                                     : library.problem);
    report.findings.push_back(
        make_finding(wrong_file, places, {scene.variable(), {file, places["reason"]}}));
  } else if (!file.ends_with(plugin_file_name)) {
    report.findings.push_back(make_finding(other, places, {scene.variable(), {file, "found"}}));
  }
}

void judge_missing(const Scene& scene, Report& report) {
  const auto net = scene.inspection.value_of("NCCL_NET_PLUGIN");
  if (scene.value.empty() && names_plugin(net)) {
    auto places = scene.places();
    places["value"] = net;
    report.findings.push_back(
        make_finding(wrong_variable, places, {scene.variable(), {"NCCL_NET_PLUGIN", net}}));
  } else if (scene.value.empty()) {
    scene.add(unset, report);
  } else if (scene.value.find('/') != std::string::npos &&
             scene.lookup.names.front() != scene.value && !scene.lookup.is_cut) {
    scene.add(path_refused, report);
  } else {
    scene.add(scene.lookup.is_cut ? cut : not_found, report);
  }
}

bool is_ours_mapped(const Inspection& inspection) {
  return std::ranges::any_of(
      inspection.mapped, [](const std::string& path) { return path.ends_with(plugin_file_name); });
}

void run(const Inspection& inspection, Report& report) {
  // What the process has loaded beats what it should have found.
  if (!inspection.has_several_gpus() || is_ours_mapped(inspection)) return;
  const auto* variable = inspection.find_variable("NCCL_TUNER_PLUGIN");
  Scene scene{.inspection = inspection, .release = inspection.nccl.value_or(assumed_release)};
  if (variable != nullptr) {
    scene.value = variable->value;
    scene.origin = variable->origin;
  }
  scene.lookup = look_up_tuner(scene.value, scene.release);
  if (scene.lookup.source == TunerSource::none) return scene.add(off, report);
  if (scene.lookup.source == TunerSource::main_program) return scene.add(in_program, report);
  const auto file = find_file(scene);
  if (file.empty()) return judge_missing(scene, report);
  judge_file(scene, file, report);
}

}  // namespace

const Check tuner_check = {"tuner", kinds, run};

}  // namespace lanewise::host
