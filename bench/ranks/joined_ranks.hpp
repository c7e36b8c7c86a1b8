// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The ranks that mpirun or torchrun has started, this process being one of them.
#include <optional>
#include <string>

namespace lanewise::bench {

struct JoinedRanks {
  int rank = 0;
  int ranks = 0;
  std::string job;  // the same on all ranks, of no other run: a name for shared memory
};

// From the environment; nullopt where nobody has started us as one of several ranks. Throws Error
// for ranks on several nodes.
[[nodiscard]] std::optional<JoinedRanks> find_joined_ranks();

// Serves the driver in rank 0's process until it says stop; the exit status.
[[nodiscard]] int serve_joined_rank(const JoinedRanks& joined);

}  // namespace lanewise::bench
