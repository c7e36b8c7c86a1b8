// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which releases of NCCL there are, so that a tool does not explain one that nothing can load the
// plugin in. The plugin itself never asks: it serves whatever loads it.
#include <optional>
#include <string>

#include "core/nccl/nccl_release.hpp"

namespace lanewise {

// Why nothing can be said of this release: it is older than the first that loads the plugin, or
// there is none of this number. Nullopt for a known one and for all that are newer than those.
[[nodiscard]] std::optional<std::string> describe_unknown_release(const NcclRelease& release);

// Newer than every release in the list, whose rules are taken for it then.
[[nodiscard]] bool is_newer_than_known(const NcclRelease& release) noexcept;

}  // namespace lanewise
