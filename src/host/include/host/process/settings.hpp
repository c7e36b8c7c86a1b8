// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The LANEWISE_* variables: one table says which there are, and reading is all or nothing.
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/profile.hpp"
#include "host/process/log.hpp"

namespace lanewise::host {

enum class Mode : std::uint8_t { apply, observe, off };
[[nodiscard]] std::string_view name_of(Mode mode) noexcept;

// Whether the net plugin may add the best environment's variables to the process.
enum class EnvironmentChange : std::uint8_t { forbidden, allowed };

// Where NCCL does not say which ranks belong together (before 2.28), ranks can only trust each
// other to have the same files and environment; a rank that differs makes the job hang. `require`:
// inert there instead.
enum class AgreementRule : std::uint8_t { trust, require };

// Whether calls are counted in shared memory, for `lanewise stats`.
enum class LiveStatistics : std::uint8_t { off, on };

struct Settings {
  Mode mode = Mode::apply;
  std::string machine;  // a topology file; empty: this machine
  std::string profile;  // a profile's file; empty: found by fingerprint
  EnvironmentChange environment_change = EnvironmentChange::forbidden;
  LogLevel log_level = LogLevel::info;
  std::string log_file;  // empty: none
  AgreementRule agreement = AgreementRule::trust;
  // How long a rank waits for the others in a communicator's init; 1 ms to a minute.
  std::chrono::milliseconds agreement_limit{2000};
  LiveStatistics statistics = LiveStatistics::on;
  // One line for each LANEWISE_* name that is no setting. An image may have names of its own.
  std::vector<std::string> unknown_names;
  friend bool operator==(const Settings&, const Settings&) = default;
};

struct SettingDescription {
  std::string_view name;
  std::string_view default_value;  // empty: not set
  std::string_view meaning;        // one line for people
};

// Every setting there is, in the order in which people read them.
[[nodiscard]] std::span<const SettingDescription> setting_descriptions() noexcept;

// The LANEWISE_* and NCCL_* variables of this process, as they are now.
[[nodiscard]] Environment read_process_environment();

// An empty value counts as not set. Throws Error for a value that its setting does not take.
[[nodiscard]] Settings parse_settings(const Environment& environment);

}  // namespace lanewise::host
