// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/doctor/doctor.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/error.hpp"
#include "doctor/checks.hpp"
#include "doctor/process_view.hpp"
#include "host/files/text_file.hpp"
#include "host/machine/topology_source.hpp"

namespace lanewise::host {
namespace {

std::string process_folder(int pid) { return "/proc/" + std::to_string(pid); }

// As the process sees files: a container has a root of its own.
MachineFiles files_of_process(const DoctorRequest& request) {
  const MachineFiles machine(request.root);
  if (!request.pid) return machine;
  const auto root = process_folder(*request.pid) + "/root";
  std::error_code error;
  const bool is_visible = std::filesystem::is_directory(machine.at(root + "/etc"), error);
  return is_visible ? MachineFiles(machine.at(root)) : machine;
}

void read_process(Inspection& inspection) {
  const auto& request = inspection.request;
  if (!request.pid) {
    inspection.variables = read_variables(inspection.files, request.own, "environment");
    return;
  }
  const auto folder = process_folder(*request.pid);
  const auto own = parse_environ(inspection.files.read(folder + "/environ").text);
  inspection.variables = read_variables(inspection.process_files, own,
                                        "environment of process " + std::to_string(*request.pid));
  // Maps of a large server have a hundred thousand lines.
  constexpr std::size_t longest_maps = std::size_t{64} << 20U;
  inspection.mapped = parse_mapped_nccl(inspection.files.read(folder + "/maps", longest_maps).text);
}

bool is_nccl(const std::string& path) {
  return path.substr(path.rfind('/') + 1).starts_with("libnccl.so");
}

void read_nccl(Inspection& inspection) {
  for (const auto& path : inspection.mapped) {
    if (is_nccl(path))
      inspection.nccl_files.push_back(read_nccl_file(inspection.process_files, path));
  }
  inspection.is_nccl_mapped = !inspection.nccl_files.empty();
  if (!inspection.request.pid) {
    for (const auto& path : find_nccl_paths(inspection))
      inspection.nccl_files.push_back(read_nccl_file(inspection.process_files, path));
  }
  inspection.nccl = inspection.request.nccl;
  if (inspection.nccl) return;
  for (const auto& file : inspection.nccl_files) {
    if (!file.release) continue;
    // Of several, none is known to be the one.
    if (inspection.nccl && *inspection.nccl != *file.release) {
      inspection.nccl.reset();
      return;
    }
    inspection.nccl = file.release;
  }
}

Inspection inspect(const DoctorRequest& request) {
  Inspection inspection{.request = request,
                        .files = MachineFiles(request.root),
                        .process_files = files_of_process(request)};
  const bool is_this_machine = request.root == "/";
  inspection.topology = is_this_machine ? read_topology() : read_topology_under(request.root);
  if (request.pid && !inspection.files.exists(process_folder(*request.pid)))
    throw Error("--pid " + std::to_string(*request.pid) + ": expected a running process");
  read_process(inspection);
  read_nccl(inspection);
  inspection.smi = !is_this_machine                      ? read_recorded_smi(inspection.files)
                   : inspection.topology.gpus.size() > 1 ? run_nvidia_smi()
                                                         : NvidiaSmi{};
  if (!request.links.empty())
    inspection.links = parse_measured_links(read_text_file(request.links), request.links.string());
  else if (request.measures_links)
    inspection.links = measure_links(std::chrono::minutes(2));
  return inspection;
}

std::string describe_nccl(const Inspection& inspection) {
  if (inspection.request.nccl) return to_string(*inspection.request.nccl) + ", as --nccl says";
  if (!inspection.nccl) return {};
  for (const auto& file : inspection.nccl_files) {
    if (file.release == inspection.nccl) return to_string(*inspection.nccl) + ", " + file.path;
  }
  return {};
}

}  // namespace

Examination examine(const DoctorRequest& request) {
  const auto inspection = inspect(request);
  Examination examination{.topology = inspection.topology, .nccl = describe_nccl(inspection)};
  for (const auto* check : all_checks()) check->run(inspection, examination.report);
  sort_by_cost(examination.report);
  return examination;
}

std::vector<CheckDescription> check_descriptions() {
  std::vector<CheckDescription> descriptions;
  for (const auto* check : all_checks())
    descriptions.push_back({check->name, {check->kinds.begin(), check->kinds.end()}});
  return descriptions;
}

}  // namespace lanewise::host
