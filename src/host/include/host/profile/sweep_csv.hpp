// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The times of a sweep, as `lanewise-bench sweep --csv` writes them: what a model is fitted to.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/choice.hpp"

namespace lanewise::host {

struct SweptTime {
  Choice choice;
  std::size_t bytes = 0;
  double us = 0;
  friend bool operator==(const SweptTime&, const SweptTime&) = default;
};

// Of the arms that are a choice and were timed; throws Error with file and line for anything else
// than such a file.
[[nodiscard]] std::vector<SweptTime> parse_sweep_csv(std::string_view text,
                                                     const std::string& file);

}  // namespace lanewise::host
