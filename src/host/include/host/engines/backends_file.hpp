// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// backends.json: the conditions of serving engines, a release a section.
#include <string>
#include <string_view>
#include <vector>

#include "core/engines/backends.hpp"

namespace lanewise::host {

// Throws Error with `file`, line and what was expected.
[[nodiscard]] std::vector<EngineRelease> parse_backends(std::string_view text,
                                                        const std::string& file);

// Those that come with the tool.
[[nodiscard]] std::vector<EngineRelease> bundled_backends();

}  // namespace lanewise::host
