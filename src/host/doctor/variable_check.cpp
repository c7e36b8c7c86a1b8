// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>

#include "core/doctor/variable_verdict.hpp"
#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "doctor/checks.hpp"
#include "host/process/settings.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view unset = "{remove}";
constexpr std::string_view set_again = "{restore}";

constexpr FindingKind misspelt = {
    .name = "variable-misspelt",
    .severity = Severity::slow,
    .title = "{name} is no variable of NCCL; {similar} is",
    .why = "NCCL says nothing of a name that it does not know: the setting has no effect.",
    .fix = "{remove}; export {similar}={value}",
    .undo = "unset {similar}"};

constexpr FindingKind unread = {
    .name = "variable-unread",
    .severity = Severity::note,
    .title = "NCCL {release} has no {name}",
    .why =
        "The library's file does not hold the name: it is of another release, of a plugin or of "
        "a framework.",
    .fix = "{remove}    # if nothing else reads it",
    .undo = set_again};

constexpr FindingKind ignored = {
    .name = "variable-ignored",
    .severity = Severity::slow,
    .title = "NCCL passes over {name}={value}: expected {expected}",
    .why = "The setting has no effect, and NCCL says so only under NCCL_DEBUG=INFO, if at all.",
    .fix = unset,
    .undo = set_again};

constexpr FindingKind channels = {
    .name = "channels-contradict",
    .severity = Severity::note,
    .title = "NCCL_MIN_NCHANNELS={value} is above NCCL_MAX_NCHANNELS={maximum}",
    .why = "The minimum wins in every release; the maximum has no effect.",
    .fix = "unset NCCL_MAX_NCHANNELS",
    .undo = "export NCCL_MAX_NCHANNELS={maximum}"};

constexpr FindingKind no_peers = {
    .name = "peer-access-switched-off",
    .severity = Severity::slow,
    .title = "{name}={value} switches peer access off",
    .why =
        "All pairs of GPUs go through host memory: 11 to 20 us a hop where peer access takes 1. "
        "As a stop-gap against a hang it is right; NCCL_P2P_LEVEL is not looked at beside it.",
    .fix = unset,
    .undo = set_again};

constexpr FindingKind no_host_memory = {
    .name = "host-memory-switched-off",
    .severity = Severity::slow,
    .title = "NCCL_SHM_DISABLE={value} leaves pairs without peer access to the network",
    .why = "Ranks of one machine then talk over sockets or a network adapter.",
    .fix = unset,
    .undo = set_again};

constexpr FindingKind per_call = {.name = "work-at-every-call",
                                  .severity = Severity::slow,
                                  .title = "{name}={value} costs time at every call",
                                  .why = "{reason}",
                                  .fix = unset,
                                  .undo = set_again};

constexpr FindingKind symmetric = {
    .name = "symmetric-memory-without-nvlink",
    .severity = Severity::slow,
    .title = "{name}={value}, and these GPUs have no NVLink",
    .why =
        "From NCCL 2.29.2 on its symmetric kernels need NVLink between all GPUs: the engine "
        "pays for a copy or passes by faster kernels, and ends in NCCL's ordinary ones.",
    .fix = unset,
    .undo = set_again};

constexpr FindingKind refused = {
    .name = "lanewise-setting-refused",
    .severity = Severity::slow,
    .title = "Lanewise does not take its settings: {reason}",
    .why = "With a setting that it does not know the plugin stands aside on all ranks.",
    .fix = "lanewise settings    # what there is; then mend or unset it",
    .undo = ""};

constexpr FindingKind unknown_setting = {
    .name = "lanewise-setting-unknown",
    .severity = Severity::slow,
    .title = "{name} is no setting of Lanewise",
    .why = "The plugin warns and works without it: what was meant has no effect.",
    .fix = "lanewise settings    # what there is; then {remove}",
    .undo = set_again};

constexpr FindingKind standing_aside = {
    .name = "lanewise-mode",
    .severity = Severity::note,
    .title = "LANEWISE_MODE={value}: NCCL keeps its own choices",
    .why = "The plugin is loaded and changes nothing.",
    .fix = unset,
    .undo = set_again};

constexpr std::array kinds = {misspelt, unread,          ignored,       channels,
                              no_peers, no_host_memory,  per_call,      symmetric,
                              refused,  unknown_setting, standing_aside};

constexpr NcclRelease assumed_release{2, 30, 7};

// Read by builds, images, torch and engines, not by NCCL.
constexpr std::array<std::string_view, 12> of_others = {"NCCL_VERSION",
                                                        "NCCL_ROOT",
                                                        "NCCL_HOME",
                                                        "NCCL_DIR",
                                                        "NCCL_INCLUDE_DIR",
                                                        "NCCL_LIB_DIR",
                                                        "NCCL_LIBRARY",
                                                        "NCCL_BLOCKING_WAIT",
                                                        "NCCL_ASYNC_ERROR_HANDLING",
                                                        "NCCL_DESYNC_DEBUG",
                                                        "NCCL_TUNER_CONFIG_FILE",
                                                        "NCCL_LIB_PATH"};

constexpr std::array<std::string_view, 14> numeric = {
    "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",    "NCCL_MIN_CTAS",     "NCCL_MAX_CTAS",
    "NCCL_NTHREADS",      "NCCL_BUFFSIZE",         "NCCL_LL_BUFFSIZE",  "NCCL_LL128_BUFFSIZE",
    "NCCL_P2P_DISABLE",   "NCCL_SHM_DISABLE",      "NCCL_CUMEM_ENABLE", "NCCL_GRAPH_REGISTER",
    "NCCL_NVLS_ENABLE",   "NCCL_CUMEM_HOST_ENABLE"};

// NCCL's own rule: strtoll of any base; what follows the number is not looked at.
bool is_number(const std::string& value) {
  const auto start = value.find_first_not_of(" \t+-");
  return start != std::string::npos && value[start] >= '0' && value[start] <= '9';
}

long long number_of(const Inspection& inspection, std::string_view name) {
  return parse_whole(inspection.value_of(name)).value_or(0);
}

struct Scene {
  const Inspection& inspection;
  Report& report;

  void add(const FindingKind& kind, const Variable& variable, const Places& more = {}) const {
    Places places = places_of(variable);
    places.insert(more.begin(), more.end());
    report.findings.push_back(make_finding(kind, places, {observe(variable)}));
  }
  void add_if_one(const FindingKind& kind, std::string_view name) const {
    const auto* variable = inspection.find_variable(name);
    if (variable != nullptr && parse_whole(variable->value) == 1) add(kind, *variable);
  }
};

std::optional<bool> is_read_by_nccl(const Inspection& inspection, const std::string& name) {
  std::optional<bool> answer;
  for (const auto& file : inspection.nccl_files) {
    const auto knows = file.knows_variable(name);
    if (knows) answer = answer.value_or(false) || *knows;
  }
  return answer;
}

void judge_names(const Scene& scene) {
  for (const auto& variable : scene.inspection.variables) {
    if (!variable.name.starts_with("NCCL_") ||
        std::ranges::find(of_others, variable.name) != of_others.end())
      continue;
    const auto is_read = is_read_by_nccl(scene.inspection, variable.name);
    if (is_read.value_or(false)) continue;
    const auto similar = find_similar_variable(variable.name);
    if (similar) {
      scene.add(misspelt, variable, {{"similar", *similar}});
    } else if (is_read && scene.inspection.nccl) {
      scene.add(unread, variable, {{"release", to_string(*scene.inspection.nccl)}});
    }
  }
}

void judge_values(const Scene& scene) {
  for (const auto name : numeric) {
    const auto* variable = scene.inspection.find_variable(name);
    if (variable != nullptr && !is_number(variable->value))
      scene.add(ignored, *variable, {{"expected", "a number"}});
  }
  const auto* level = scene.inspection.find_variable("NCCL_P2P_LEVEL");
  if (level != nullptr &&
      !is_path_level(level->value, scene.inspection.nccl.value_or(assumed_release)))
    scene.add(ignored, *level, {{"expected", "LOC, NVL, PIX, PXB, PHB or SYS in capitals"}});
  const auto* minimum = scene.inspection.find_variable("NCCL_MIN_NCHANNELS");
  const auto maximum = number_of(scene.inspection, "NCCL_MAX_NCHANNELS");
  if (minimum != nullptr && maximum > 0 &&
      number_of(scene.inspection, "NCCL_MIN_NCHANNELS") > maximum)
    scene.add(channels, *minimum, {{"maximum", std::to_string(maximum)}});
}

bool are_geforce(const Topology& topology) {
  return std::ranges::all_of(
      topology.gpus, [](const Gpu& gpu) { return gpu.model.find("GeForce") != std::string::npos; });
}

void judge_transports(const Scene& scene) {
  if (!scene.inspection.has_several_gpus()) return;
  if (!are_geforce(scene.inspection.topology)) {
    scene.add_if_one(no_peers, "NCCL_P2P_DISABLE");
    const auto* level = scene.inspection.find_variable("NCCL_P2P_LEVEL");
    if (level != nullptr && (level->value == "LOC" || level->value == "0"))
      scene.add(no_peers, *level);
  }
  scene.add_if_one(no_host_memory, "NCCL_SHM_DISABLE");
  if (can_have_nvlink(scene.inspection.topology) == NvlinkAbility::no)
    scene.add_if_one(symmetric, "VLLM_USE_NCCL_SYMM_MEM");
}

void judge_calls(const Scene& scene) {
  const auto* pointers = scene.inspection.find_variable("NCCL_CHECK_POINTERS");
  if (pointers != nullptr && pointers->value == "1")
    scene.add(per_call, *pointers, {{"reason", "NCCL asks CUDA about each pointer of each call."}});
  const auto* blocking = scene.inspection.find_variable("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr && blocking->value == "1")
    scene.add(per_call, *blocking,
              {{"reason", "The processor waits for each kernel, an all-reduce's too."}});
  const auto debug = scene.inspection.value_of("NCCL_DEBUG");
  const auto* parts = scene.inspection.find_variable("NCCL_DEBUG_SUBSYS");
  if (parts == nullptr || (debug != "INFO" && debug != "TRACE")) return;
  if (parts->value == "ALL" || parts->value.find("COLL") != std::string::npos)
    scene.add(per_call, *parts, {{"reason", "NCCL writes a line for each call of each rank."}});
}

void judge_own(const Scene& scene) {
  Environment own = scene.inspection.environment();
  std::erase_if(own, [](const auto& entry) { return !entry.first.starts_with("LANEWISE_"); });
  try {
    const auto settings = parse_settings(own);
    const auto known = setting_descriptions();
    for (const auto& [name, value] : own) {
      const auto* variable = scene.inspection.find_variable(name);
      const bool is_known =
          std::ranges::find(known, name, &SettingDescription::name) != known.end();
      if (!is_known && variable != nullptr) scene.add(unknown_setting, *variable);
    }
    const auto* mode = scene.inspection.find_variable("LANEWISE_MODE");
    if (settings.mode != Mode::apply && mode != nullptr) scene.add(standing_aside, *mode);
  } catch (const Error& error) {
    scene.report.findings.push_back(
        make_finding(refused, {{"reason", error.what()}}, {{"LANEWISE_*", error.what()}}));
  }
}

void run(const Inspection& inspection, Report& report) {
  const Scene scene{inspection, report};
  judge_names(scene);
  judge_values(scene);
  judge_transports(scene);
  judge_calls(scene);
  judge_own(scene);
}

}  // namespace

const Check variable_check = {"variables", kinds, run};

}  // namespace lanewise::host
