// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#pragma once

// How `lanewise explain` prints: a table for people, JSON for programs.
#include <cstddef>
#include <string>
#include <vector>

#include "lanewise/explanation.hpp"

namespace lanewise::cli {

struct ExplainedSize {
  std::size_t bytes = 0;
  Explanation explanation;
};

struct ExplainReport {
  std::string machine;
  NcclRelease nccl;
  int ranks = 0;
  int channels = 0;
  std::string prices;                // where they come from
  std::vector<std::string> remarks;  // lines for people under the heading
  std::vector<ExplainedSize> sizes;
};

void print_text(const ExplainReport& report);
// {"schema_version":1,"machine","nccl","ranks","channels","prices","rows":[{"bytes","stock":
// {"algorithm","protocol","channels","waves","predicted_us"},"choice":{..}|null,"source","reason"}]}
void print_json(const ExplainReport& report);

}  // namespace lanewise::cli
