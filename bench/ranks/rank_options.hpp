// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How many ranks, of which kind, with which plugin: the options that every measuring command has.
#include <string>

#include "core/nccl/collective.hpp"
#include "program/app.hpp"

namespace lanewise::bench {

struct RankOptions {
  int ranks = 0;  // 0: one for each GPU
  bool uses_threads = false;
  int timeout_s = 60;
  std::string plugin;
  std::string inject;  // see FaultInjection
  Collective collective = Collective::all_reduce;
};

void add_rank_options(CLI::App& command, RankOptions& options);

// Of a search, a third of whose default budget this is: one candidate that hangs must not eat all.
[[nodiscard]] RankOptions with_short_timeout(RankOptions options);

}  // namespace lanewise::bench
