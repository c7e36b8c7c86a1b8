// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which NCCL has loaded us: asked of the library itself, never of the environment.
#include <initializer_list>
#include <optional>
#include <string>

#include "core/nccl/nccl_release.hpp"

namespace lanewise::host {

struct NcclLibrary {
  NcclRelease release;
  std::string path;  // of the object that answered; empty: the main program
};

// Which releases may have called: from `first` on, and before `end` where that is known.
struct ReleaseBounds {
  NcclRelease first;
  std::optional<NcclRelease> end;
  [[nodiscard]] bool hold(const NcclRelease& release) const noexcept {
    return first <= release && (!end || release < *end);
  }
};

// The release that ncclGetVersion gives in the first object that holds one of `addresses` (NCCL's
// logger, the caller) and says one within `bounds`. A process may have loaded another NCCL beside:
// no other object is asked. Loads nothing; nullopt where none answers.
[[nodiscard]] std::optional<NcclLibrary> find_nccl_library(
    std::initializer_list<const void*> addresses, const ReleaseBounds& bounds = {});

}  // namespace lanewise::host
