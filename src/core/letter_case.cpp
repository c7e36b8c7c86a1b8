// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/letter_case.hpp"

#include <algorithm>

namespace lanewise {

std::string to_lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

}  // namespace lanewise
