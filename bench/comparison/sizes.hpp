// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which payloads to measure: a list, a model's shape, or a range with the neighbours of powers of
// two, where NCCL's thresholds lie.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/data_type.hpp"
#include "program/app.hpp"

namespace lanewise::bench {

struct SizeOptions {
  std::vector<std::string> bytes;
  long hidden = 0;  // 0: not given
  std::vector<int> tokens = {1, 2, 4, 8, 16};
  std::string range;
  std::string stats;  // a file
  bool wants_neighbours = false;
  std::string type = "bf16";
};

// --bytes, --hidden, --tokens, --range, --neighbours, --from-stats, --dtype.
void add_size_options(CLI::App& command, SizeOptions& options);

// Sorted, each once, whole elements; without any option the shape of a model with hidden 7168.
// Throws Error for a size that is zero, above 1 GiB or not a whole number of elements.
[[nodiscard]] std::vector<std::size_t> choose_sizes(const SizeOptions& options);

// "14336", "14K", "4M" (powers of 1024). Throws Error for anything else.
[[nodiscard]] std::size_t parse_size(std::string_view text);
// "14 KiB", "4 MiB", "14320".
[[nodiscard]] std::string show_size(std::size_t bytes);

}  // namespace lanewise::bench
