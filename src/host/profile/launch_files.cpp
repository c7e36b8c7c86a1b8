// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/launch_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

namespace lanewise::host {
namespace {

constexpr std::array<std::string_view, 2> names = {"NCCL_GRAPH_FILE", "NCCL_TOPO_FILE"};

}  // namespace

std::vector<LaunchVariable> file_variables(const LaunchPlan& plan) {
  std::vector<LaunchVariable> found;
  std::copy_if(plan.variables.begin(), plan.variables.end(), std::back_inserter(found),
               [](const LaunchVariable& variable) {
                 return std::find(names.begin(), names.end(), variable.name) != names.end();
               });
  return found;
}

bool has_file(const LaunchVariable& variable) {
  std::error_code error;
  return std::filesystem::is_regular_file(variable.value, error);
}

std::string find_missing_file(const LaunchPlan& plan) {
  for (const auto& variable : file_variables(plan))
    if (!has_file(variable))
      return variable.name + "=" + variable.value + ": expected a file that is there";
  return "";
}

}  // namespace lanewise::host
