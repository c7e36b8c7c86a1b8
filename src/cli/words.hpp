// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Small words of the texts for people.
#include <algorithm>
#include <cstddef>
#include <string>

namespace lanewise::cli {

// "1 channel", "2 channels".
[[nodiscard]] inline std::string count_of(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// `text` with blanks up to `width` letters.
[[nodiscard]] inline std::string pad(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace lanewise::cli
