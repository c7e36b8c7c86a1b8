// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What `lanewise backends` prints: who takes each call, and which one change gives it to another.
#include <cstddef>
#include <string>
#include <vector>

#include "core/engines/backends.hpp"

namespace lanewise::cli {

// A step of the model: its facts hold "captured", "tokens" and "bytes" too.
struct EngineStep {
  std::string name;  // "decode or verify in a CUDA graph"
  long long tokens = 0;
  std::size_t bytes = 0;
  CallFacts facts;
};

struct BackendsReport {
  const EngineRelease* engine = nullptr;
  std::string machine;  // "8 ranks of compute capability 12.0, no NVLink, peer access"
  std::string model;    // "hidden 7168, bf16, widest captured step 64 tokens"
  std::vector<EngineStep> steps;
};

[[nodiscard]] std::string backends_to_text(const BackendsReport& report);
[[nodiscard]] std::string backends_to_json(const BackendsReport& report);

}  // namespace lanewise::cli
