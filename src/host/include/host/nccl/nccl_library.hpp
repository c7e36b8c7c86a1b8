// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which NCCL has loaded us: asked of the library itself, never of the environment.
#include <optional>
#include <string>

#include "core/nccl/nccl_release.hpp"

namespace lanewise::host {

struct NcclLibrary {
  NcclRelease release;
  std::string path;  // of the object that answered; empty: the main program
};

// The release that ncclGetVersion gives in the object that holds `address` (NCCL's logger), else
// in any loaded libnccl.so. Loads nothing; nullopt where no loaded object answers.
[[nodiscard]] std::optional<NcclLibrary> find_nccl_library(const void* address);

}  // namespace lanewise::host
