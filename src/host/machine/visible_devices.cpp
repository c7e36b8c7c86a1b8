// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/machine/visible_devices.hpp"

#include <charconv>

#include "files/split_text.hpp"

namespace lanewise::host {

std::optional<std::vector<int>> parse_visible_devices(std::string_view text) {
  std::vector<int> numbers;
  for (auto word : split_text(text, ',')) {
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (word.starts_with("GPU-") || word.starts_with("MIG-")) return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number < 0) break;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace lanewise::host
