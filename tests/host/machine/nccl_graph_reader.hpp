// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Reads an NCCL_GRAPH_FILE under the rules of NCCL's own parser, for tests: what it refuses NCCL
// refuses, or would silently take for something else.
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::test {

struct ReadGraph {
  int id = -1;
  int pattern = 0;
  int channels = 0;
  int same_channels = 0;
  double speed_intra = 0;
  double speed_inter = 0;
  std::string type_intra;
  std::string type_inter;
  std::vector<std::vector<int>> orders;  // devices of each channel
};

// Throws std::runtime_error with what NCCL would stumble over.
[[nodiscard]] std::vector<ReadGraph> read_nccl_graphs(std::string_view text);

}  // namespace lanewise::test
