// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a server's environment needs so that NCCL loads the plugin and starts as it was tuned;
// pure. `lanewise run` applies it, `lanewise env` prints it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {

// The NAME that NCCL_TUNER_PLUGIN, NCCL_ENV_PLUGIN and NCCL_NET_PLUGIN take.
inline constexpr std::string_view plugin_name = "lanewise";
inline constexpr std::string_view plugin_file_name = "libnccl-tuner-lanewise.so";
// The same library where NCCL looks for an env plugin of that name.
inline constexpr std::string_view env_plugin_file_name = "libnccl-env-lanewise.so";

// Whether NCCL takes this value of a *_PLUGIN variable for Lanewise: the name, the file's name or a
// path to it.
[[nodiscard]] bool names_plugin(std::string_view value) noexcept;

// Whether NCCL's environment may be added to at all: not where Lanewise only observes or is off.
enum class EnvironmentUse : std::uint8_t { apply, leave };

// How the base environment gets to NCCL: as variables, or by the env plugin where this NCCL asks
// for them for each communicator.
enum class BaseCarrier : std::uint8_t { variables, env_plugin };

// `own`: what the process has set: NCCL_*, LANEWISE_* and LD_LIBRARY_PATH, and what NCCL's
// configuration files set. `plugin_folder`: holds plugin_file_name; empty where the loader finds
// it by itself. `profile_path`: given by the user for this launch; empty: found by the plugin.
struct LaunchRequest {
  Environment own;
  std::string plugin_folder;
  std::string profile_path;
  const Profile* profile = nullptr;  // of this machine; nullptr: none
  // Holds the direct libraries; empty: the direct layer was not asked for.
  std::string direct_folder;
  // What is wrong with the path in `own`'s NCCL_TUNER_PLUGIN; empty: nothing, or no path.
  std::string tuner_remark;
  bool is_tuner_there = true;
  // Entries of `own`'s LD_LIBRARY_PATH that hold another copy of the plugin than `plugin_folder`
  // and would win over it.
  std::vector<std::string> other_copies;
  EnvironmentUse environment = EnvironmentUse::apply;
  BaseCarrier base = BaseCarrier::variables;
  std::optional<NcclRelease> release;  // nullopt: not known before the command starts
};

struct LaunchVariable {
  std::string name;
  std::string value;
  std::string reason;  // for people
  friend bool operator==(const LaunchVariable&, const LaunchVariable&) = default;
};

struct LaunchPlan {
  std::vector<LaunchVariable> variables;  // to be set; none is in `own` but LD_LIBRARY_PATH
  std::vector<std::string> remarks;       // what was left alone and why
  bool has_base_environment = false;      // `variables` hold it
};

// The two ways of the direct layer into a process: by LD_PRELOAD, and opened in NCCL's place. Where
// it was asked for, plan_launch() throws Error if neither profile nor LANEWISE_DIRECT names sizes.
inline constexpr std::string_view direct_preload_name = "liblanewise-preload.so";
inline constexpr std::string_view direct_nccl_name = "liblanewise-nccl.so";

// The environment is the profile's where one fits `own`, exactly as it was measured; elsewhere it
// is the base environment. LD_LIBRARY_PATH grows at its end, or at its start where another copy
// would win. Where the user names another tuner or none, the environment is left out: it is for
// Lanewise's choices. Throws Error for a folder that LD_LIBRARY_PATH cannot hold, and where
// `profile_path` contradicts LANEWISE_PROFILE.
[[nodiscard]] LaunchPlan plan_launch(const LaunchRequest& request);

enum class LaunchFormat : std::uint8_t { shell, docker, systemd };

// One line a variable: `export NAME='value'`, `-e NAME=value` (quoted for a shell where it has to
// be) or `Environment="NAME=value"`.
[[nodiscard]] std::string format_variable(const LaunchVariable& variable, LaunchFormat format);

// A word that a POSIX shell reads back as `text`.
[[nodiscard]] std::string quote_for_shell(std::string_view text);

}  // namespace lanewise
