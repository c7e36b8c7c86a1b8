// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/checks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace lanewise::host {
namespace {

constexpr std::array<const Check*, 19> checks = {
    &machine_check, &iommu_check,          &acs_check,   &peer_check,   &driver_check,
    &link_check,    &measured_links_check, &aer_check,   &memory_check, &topology_check,
    &numa_check,    &power_check,          &nccl_check,  &hazard_check, &variable_check,
    &filter_check,  &graph_file_check,     &tuner_check, &profile_check};

}  // namespace

std::span<const Check* const> all_checks() noexcept { return checks; }

const Variable* Inspection::find_variable(std::string_view name) const noexcept {
  const auto found = std::ranges::lower_bound(variables, name, {}, &Variable::name);
  return found == variables.end() || found->name != name ? nullptr : &*found;
}

std::string Inspection::value_of(std::string_view name) const {
  const auto* variable = find_variable(name);
  return variable == nullptr ? std::string() : variable->value;
}

Environment Inspection::environment() const {
  Environment environment;
  for (const auto& variable : variables) environment.emplace(variable.name, variable.value);
  return environment;
}

Places places_of(const Variable& variable) {
  // A line of a file is taken out there, not in the shell.
  const bool is_in_file = variable.origin.starts_with('/');
  return {{"name", variable.name},
          {"value", variable.value},
          {"restore", is_in_file ? "echo '" + variable.name + "=" + variable.value +
                                       "' | sudo tee -a " + variable.origin
                                 : "export " + variable.name + "=" + variable.value},
          {"remove", is_in_file ? "sudo sed -i '/^" + variable.name + "=/d' " + variable.origin
                                : "unset " + variable.name}};
}

Observation observe(const Variable& variable) {
  return {variable.name + " (" + variable.origin + ")", variable.value};
}

std::string fixed(double number, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

std::string list_gpus(const std::vector<std::size_t>& gpus) {
  std::string text;
  for (const auto gpu : gpus) text += (text.empty() ? "GPU" : ", GPU") + std::to_string(gpu);
  return text;
}

std::vector<std::string> addresses_of(const Topology& topology,
                                      const std::vector<std::size_t>& gpus) {
  std::vector<std::string> addresses;
  for (const auto gpu : gpus) addresses.push_back(to_string(topology.gpus[gpu].address));
  return addresses;
}

}  // namespace lanewise::host
