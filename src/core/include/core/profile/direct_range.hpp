// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Sizes at which the direct all-reduce beat the best that NCCL can be told, with the evidence.
#include <string>

#include "core/profile/rules.hpp"

namespace lanewise {

// Times in microseconds; speedup is NCCL's best over direct, with its interval.
struct DirectRange {
  ByteRange bytes;
  std::string form;  // as LANEWISE_DIRECT names it
  double nccl_us = 0;
  double us = 0;
  double speedup = 0;
  double ci95_low = 0;
  double ci95_high = 0;
  int samples = 0;
  friend bool operator==(const DirectRange&, const DirectRange&) = default;
};

inline constexpr const char* direct_forms[] = {"one-shot-ll", "one-shot-simple", "two-shot"};

}  // namespace lanewise
