// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The parts of a text between separators. std::views::split is what clang 14 cannot compile with
// this library.
#include <string_view>
#include <vector>

namespace lanewise::host {

// One part more than there are separators; parts may be empty.
[[nodiscard]] inline std::vector<std::string_view> split_text(std::string_view text,
                                                              char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace lanewise::host
