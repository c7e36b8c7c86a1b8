// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/process/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace lanewise::host {
namespace {

constexpr std::array<std::string_view, 3> mode_names = {"apply", "observe", "off"};

[[noreturn]] void reject(std::string_view name, std::string_view value, std::string_view expected) {
  throw Error(std::string(name) + "=" + std::string(value) + ": expected " + std::string(expected));
}

void set_mode(Settings& settings, std::string_view value) {
  const auto* found = std::find(mode_names.begin(), mode_names.end(), value);
  if (found == mode_names.end()) reject("LANEWISE_MODE", value, "apply, observe or off");
  settings.mode = static_cast<Mode>(found - mode_names.begin());
}

void set_machine(Settings& settings, std::string_view value) { settings.machine = value; }

void set_profile(Settings& settings, std::string_view value) { settings.profile = value; }

void set_environment_change(Settings& settings, std::string_view value) {
  if (value != "0" && value != "1") reject("LANEWISE_APPLY_ENV", value, "0 or 1");
  settings.environment_change =
      value == "1" ? EnvironmentChange::allowed : EnvironmentChange::forbidden;
}

void set_log_level(Settings& settings, std::string_view value) {
  const auto level = parse_log_level(value);
  if (!level) reject("LANEWISE_LOG", value, "trace, debug, info, warning, error or off");
  settings.log_level = *level;
}

void set_log_file(Settings& settings, std::string_view value) { settings.log_file = value; }

void set_agreement(Settings& settings, std::string_view value) {
  if (value != "trust" && value != "require") reject("LANEWISE_AGREE", value, "trust or require");
  settings.agreement = value == "require" ? AgreementRule::require : AgreementRule::trust;
}

void set_agreement_limit(Settings& settings, std::string_view value) {
  constexpr int longest_ms = 60'000;
  int limit_ms = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), limit_ms);
  if (error != std::errc{} || end != value.data() + value.size() || limit_ms < 1 ||
      limit_ms > longest_ms)
    reject("LANEWISE_AGREE_MS", value, "milliseconds, 1 to 60000");
  settings.agreement_limit = std::chrono::milliseconds(limit_ms);
}

void set_statistics(Settings& settings, std::string_view value) {
  if (value != "0" && value != "1") reject("LANEWISE_STATS", value, "0 or 1");
  settings.statistics = value == "1" ? LiveStatistics::on : LiveStatistics::off;
}

// Read by the direct libraries; the plugin only must not take them for a mistake.
void leave_to_direct(Settings&, std::string_view) {}

constexpr std::array descriptions = {
    SettingDescription{"LANEWISE_MODE", "apply",
                       "apply: change NCCL's choice; observe: decide and log only; off: inert"},
    SettingDescription{"LANEWISE_MACHINE", "",
                       "topology file to use instead of this machine's /sys"},
    SettingDescription{
        "LANEWISE_PROFILE", "",
        "profile to use instead of the one found for this machine; none: no profile"},
    SettingDescription{"LANEWISE_APPLY_ENV", "0",
                       "1: NCCL_NET_PLUGIN=lanewise adds the best environment to the process"},
    SettingDescription{"LANEWISE_LOG", "info", "trace, debug, info, warning, error or off"},
    SettingDescription{
        "LANEWISE_LOG_FILE", "",
        "file or device that gets the log too, up to 64 MiB; %p stands for the process "
        "id"},
    SettingDescription{"LANEWISE_AGREE", "trust",
                       "before NCCL 2.28 ranks cannot agree; trust: hang if a rank's files or "
                       "environment differ; require: inert there"},
    SettingDescription{"LANEWISE_AGREE_MS", "2000",
                       "how long a rank waits for the others to agree, 1 to 60000"},
    SettingDescription{"LANEWISE_STATS", "1",
                       "1: count calls in shared memory for `lanewise stats`; 0: do not"},
    SettingDescription{"LANEWISE_DIRECT", "",
                       "sizes that the direct libraries take from NCCL: [RANKS=]LO:HI[:FORM],.."},
    SettingDescription{"LANEWISE_DIRECT_GRAPHS", "64",
                       "CUDA graphs of a communicator whose calls are direct, 0 to 1024"},
};

using Setter = void (*)(Settings&, std::string_view);
constexpr std::array<Setter, descriptions.size()> setters = {
    set_mode,       set_machine,     set_profile,    set_environment_change,
    set_log_level,  set_log_file,    set_agreement,  set_agreement_limit,
    set_statistics, leave_to_direct, leave_to_direct};

// Of scripts/deps.sh and CMake, which a developer has set while the plugin runs, and of the bench.
constexpr std::array<std::string_view, 4> others_variables = {
    "LANEWISE_DEPS_DIR", "LANEWISE_HWLOC_TARBALL", "LANEWISE_PUGIXML_TARBALL",
    "LANEWISE_BENCH_NCCL"};

// How many letters to change, add or drop (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = before + (a[i] == b[j] ? 0U : 1U);
      before = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string describe_unknown(std::string_view name) {
  const auto* nearest = std::min_element(
      descriptions.begin(), descriptions.end(), [name](const auto& one, const auto& other) {
        return distance(name, one.name) < distance(name, other.name);
      });
  return std::string(name) + " is no setting and changes nothing; the nearest is " +
         std::string(nearest->name) + " (`lanewise settings` lists all)";
}

void set(Settings& settings, std::string_view name, std::string_view value) {
  if (std::find(others_variables.begin(), others_variables.end(), name) != others_variables.end())
    return;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (descriptions[i].name != name) continue;
    if (!value.empty()) setters[i](settings, value);
    return;
  }
  settings.unknown_names.push_back(describe_unknown(name));
}

}  // namespace

std::string_view name_of(Mode mode) noexcept { return mode_names[static_cast<std::size_t>(mode)]; }

std::span<const SettingDescription> setting_descriptions() noexcept { return descriptions; }

Environment read_process_environment() {
  Environment variables;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    if (!line.starts_with("LANEWISE_") && !line.starts_with("NCCL_")) continue;
    variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

Settings parse_settings(const Environment& environment) {
  Settings settings;
  for (const auto& [name, value] : environment) {
    if (name.starts_with("LANEWISE_")) set(settings, name, value);
  }
  return settings;
}

}  // namespace lanewise::host
