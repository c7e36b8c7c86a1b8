// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What a check of the doctor gets and what it is. One check a file; checks.cpp has the table.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/doctor/finding.hpp"
#include "core/machine/topology.hpp"
#include "core/nccl/nccl_release.hpp"
#include "doctor/machine_files.hpp"
#include "doctor/measured_links.hpp"
#include "doctor/nccl_file.hpp"
#include "doctor/nvidia_smi.hpp"
#include "host/doctor/doctor.hpp"

namespace lanewise::host {

// A variable in force, with where it comes from: "environment of process 77", "/etc/nccl.conf".
struct Variable {
  std::string name;
  std::string value;
  std::string origin;
};

struct Inspection {
  DoctorRequest request;
  MachineFiles files;          // the machine
  MachineFiles process_files;  // as the examined process sees it
  Topology topology;
  std::vector<Variable> variables;  // by name; an empty value is left out
  // Files of NCCL: the one that the process has mapped, else those that a program may load.
  std::vector<NcclFile> nccl_files;
  bool is_nccl_mapped = false;
  std::vector<std::string> mapped;  // files of NCCL and its plugins in the process
  std::optional<NcclRelease> nccl;  // the release in force; none where it is not known or not one
  NvidiaSmi smi;
  std::optional<MeasuredLinks> links;  // where they were asked for

  [[nodiscard]] const Variable* find_variable(std::string_view name) const noexcept;
  // Its value; empty where it is not set.
  [[nodiscard]] std::string value_of(std::string_view name) const;
  [[nodiscard]] Environment environment() const;
  [[nodiscard]] bool has_several_gpus() const noexcept { return topology.gpus.size() > 1; }
};

struct Check {
  std::string_view name;
  std::span<const FindingKind> kinds;
  void (*run)(const Inspection& inspection, Report& report);
};

// checks.cpp: all of them, in the order in which people read them.
[[nodiscard]] std::span<const Check* const> all_checks() noexcept;

// "GPU0, GPU3" and the addresses of these GPUs.
[[nodiscard]] std::string list_gpus(const std::vector<std::size_t>& gpus);
[[nodiscard]] std::vector<std::string> addresses_of(const Topology& topology,
                                                    const std::vector<std::size_t>& gpus);

[[nodiscard]] std::string fixed(double number, int decimals);

// {name}, {value}, and the commands that take it away and set it again where it was: {remove},
// {restore}.
[[nodiscard]] Places places_of(const Variable& variable);
[[nodiscard]] Observation observe(const Variable& variable);

}  // namespace lanewise::host
