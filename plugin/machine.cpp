// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine.hpp"

#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"

namespace lanewise::plugin {
namespace {

Machine read_machine(const std::string& file) {
  try {
    return {file.empty() ? host::read_topology() : host::read_topology(file), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

}  // namespace

const Machine& machine_of_process(const std::string& file) {
  static const Machine machine = read_machine(file);
  return machine;
}

std::string describe(const Machine& machine) {
  const auto& gpus = machine.topology.gpus;
  if (gpus.empty()) return "no GPU in sight";
  const std::string count = std::to_string(gpus.size());
  if (!is_homogeneous(machine.topology) || gpus.front().model.empty()) return count + " GPUs";
  return count + "x " + gpus.front().model;
}

}  // namespace lanewise::plugin
