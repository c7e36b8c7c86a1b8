// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NVIDIA's example tuner CSV:
// collective,min,max,algorithm,protocol,channels,nodes,ranks[,pipe][,reg].
#include <optional>
#include <string>
#include <vector>

#include "core/nccl/choice.hpp"

namespace lanewise::bench {

struct ConfRule {
  std::size_t low = 0;
  std::size_t high = 0;  // both ends included, as the example tuner takes them
  Choice choice;
  int ranks = -1;  // -1: any, the file format's own mark
};

struct ConfFile {
  std::vector<ConfRule> rules;
  // The first match, as the example tuner takes it.
  [[nodiscard]] std::optional<Choice> find(std::size_t bytes, int ranks) const;
};

// All-reduce rules on one node; others are skipped. Throws Error with file and line.
[[nodiscard]] ConfFile read_conf_file(const std::string& path);

}  // namespace lanewise::bench
