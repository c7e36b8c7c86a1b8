// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The sizes that the direct all-reduce takes, as LANEWISE_DIRECT says them:
// "[RANKS=]LO:HI[:FORM]", several with commas, in bytes. A profile is written into this form too.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "direct/forms.hpp"

namespace lanewise::direct {

struct SizeRange {
  int ranks = 0;  // of the communicator; 0: any
  std::size_t lowest = 0;
  std::size_t highest = 0;   // included
  std::optional<Form> form;  // none: usual_form()
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

// Throws Error that names the entry and what is expected.
[[nodiscard]] std::vector<SizeRange> parse_size_ranges(std::string_view text);
[[nodiscard]] std::string format_size_ranges(const std::vector<SizeRange>& ranges);

// The first that holds the size in a communicator of so many ranks; null where none does.
[[nodiscard]] const SizeRange* find_range(const std::vector<SizeRange>& ranges, std::size_t bytes,
                                          int ranks) noexcept;
// The largest size of any; 0 where there is none for so many ranks.
[[nodiscard]] std::size_t largest_size(const std::vector<SizeRange>& ranges, int ranks) noexcept;

}  // namespace lanewise::direct
