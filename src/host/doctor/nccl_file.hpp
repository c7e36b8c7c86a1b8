// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A libnccl.so.2 as a file: its release and the variables it knows, from the texts in it. Never
// from NCCL_VERSION, a package or torch: these name another library than the one that is loaded.
#include <optional>
#include <string>
#include <string_view>

#include "core/nccl/nccl_release.hpp"
#include "doctor/machine_files.hpp"

namespace lanewise::host {

struct NcclFile {
  std::string path;  // on the examined machine
  std::optional<NcclRelease> release;
  std::string texts;  // its read-only data; empty where it could not be read

  // Whether this NCCL reads a variable of this name; none where that cannot be told.
  [[nodiscard]] std::optional<bool> knows_variable(std::string_view name) const;
};

[[nodiscard]] NcclFile read_nccl_file(const MachineFiles& files, const std::string& path);

}  // namespace lanewise::host
