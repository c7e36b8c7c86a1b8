// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The release of this library, as the plugin logs it and as profiles record it.
#include <string_view>

namespace lanewise {

inline constexpr std::string_view version = "0.1.0";

}  // namespace lanewise
