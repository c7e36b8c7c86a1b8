// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Examines a machine, and a running server's process, for what makes all-reduces slow or break.
// Reads files only: nothing is changed, and no GPU library is loaded.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/doctor/finding.hpp"
#include "core/machine/topology.hpp"
#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"

namespace lanewise::host {

// Of a file system, in bytes.
struct Space {
  long long total = 0;
  long long free = 0;
};

struct DoctorRequest {
  // Holds sys, proc, etc and dev: "/" for this machine. A folder may also hold what nvidia-smi
  // said there: nvidia-smi/query.csv and nvidia-smi/topo-p2p.txt.
  std::filesystem::path root = "/";
  std::optional<int> pid;           // a server's process under `root`
  Environment own;                  // this process's variables; not looked at where `pid` is given
  std::filesystem::path hazards;    // more hazards, a file; empty: none
  std::optional<NcclRelease> nccl;  // the release to judge by; none: the one that is found
  std::filesystem::path links;      // a result of lanewise-bench links; empty: none
  bool measures_links = false;      // runs it: up to two minutes on this machine's GPUs
  std::optional<Space> shm;         // of /dev/shm; none: measured where `root` is this machine
};

struct Examination {
  Topology topology;
  std::string nccl;  // "2.30.7, /usr/lib/.../libnccl.so.2"; empty: none was found
  Report report;
};

// Throws Error for a root that is no folder, a process that is not there, or a file of hazards or
// links that cannot be taken.
[[nodiscard]] Examination examine(const DoctorRequest& request);

// Every kind of finding there is, in the order of the checks.
struct CheckDescription {
  std::string_view name;
  std::vector<FindingKind> kinds;
};
[[nodiscard]] std::vector<CheckDescription> check_descriptions();

}  // namespace lanewise::host
