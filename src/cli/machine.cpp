// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine.hpp"

#include <filesystem>

#include "host/machine/topology_source.hpp"

namespace lanewise::cli {

const std::string& named_machine(const std::string& option,
                                 const host::Settings& settings) noexcept {
  return option.empty() ? settings.machine : option;
}

Topology read_machine(const std::string& option, const host::Settings& settings) {
  // The plugin reads the setting's file and refuses one that everyone may write, so this does.
  if (!option.empty()) return host::view_topology(std::filesystem::path(option));
  const std::string& named = settings.machine;
  return named.empty() ? host::read_topology() : host::read_topology(std::filesystem::path(named));
}

Topology read_machine(const std::string& option) {
  return read_machine(option, host::parse_settings(host::read_process_environment()));
}

}  // namespace lanewise::cli
