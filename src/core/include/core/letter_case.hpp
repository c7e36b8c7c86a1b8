// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Lower case of ASCII: NCCL and the engines read names without regard to case, whatever the locale.
#include <string>
#include <string_view>

namespace lanewise {

[[nodiscard]] std::string to_lower(std::string_view text);

}  // namespace lanewise
