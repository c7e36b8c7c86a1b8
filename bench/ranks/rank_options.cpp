// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rank_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "shared_block.hpp"

namespace lanewise::bench {

void add_rank_options(CLI::App& command, RankOptions& options) {
  command.add_option("--ranks", options.ranks, "Ranks; without it one for each GPU")
      ->check(CLI::Range(2, max_ranks));
  command.add_flag("--threads", options.uses_threads,
                   "Ranks as threads of one process; also more ranks than GPUs");
  command
      .add_option("--timeout", options.timeout_s,
                  "Seconds until ranks that do not answer are ended, and what they ran is left out")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command.add_option("--plugin", options.plugin,
                     "The plugin's file; without it the one beside this program");
  command.add_option("--inject", options.inject)->group("");
}

RankOptions with_short_timeout(RankOptions options) {
  constexpr int most_timeout_s = 20;
  options.timeout_s = std::min(options.timeout_s, most_timeout_s);
  return options;
}

}  // namespace lanewise::bench
