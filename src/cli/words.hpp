// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Small words of the texts for people.
#include <string>

namespace lanewise::cli {

// "1 channel", "2 channels".
[[nodiscard]] inline std::string count_of(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace lanewise::cli
