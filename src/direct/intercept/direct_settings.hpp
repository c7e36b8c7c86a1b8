// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The variables that the direct libraries read, once a process, when it first makes a communicator.
#include <chrono>
#include <string>
#include <vector>

#include "direct/size_ranges.hpp"

namespace lanewise::direct {

struct DirectSettings {
  std::vector<SizeRange> ranges;  // LANEWISE_DIRECT; empty: everything stays with NCCL
  int graphs = 64;                // LANEWISE_DIRECT_GRAPHS
  bool may_use_gpu = true;        // unless NCCL, too, was told to use host memory
  std::chrono::milliseconds agreement_limit{2000};  // LANEWISE_AGREE_MS
  bool is_counting = true;                          // unless LANEWISE_STATS=0
  bool is_quiet = false;                            // LANEWISE_LOG=off
  bool is_verbose = false;                          // LANEWISE_LOG=debug or NCCL_DEBUG=INFO
};

// Throws Error for a value that its variable does not take.
[[nodiscard]] DirectSettings read_direct_settings();
// The same once a process; a bad value is said once and leaves everything with NCCL.
[[nodiscard]] const DirectSettings& direct_settings();

// One line on stderr.
void say(const std::string& text);

}  // namespace lanewise::direct
