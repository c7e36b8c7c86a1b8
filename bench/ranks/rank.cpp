// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "commands/commands.hpp"
#include "rank_loop.hpp"

namespace lanewise::bench {
namespace {

struct Options {
  int descriptor = -1;
  int first_rank = 0;
  int rank_count = 1;
  int driver = 0;
};

void run_rank(BlockLayout& block, RankPlace place) {
  if (serve_rank(block, place) == 0) return;
  // The driver reads the failure and ends all ranks.
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void run_ranks_of_this_process(const Options& options) {
  // Nobody stays behind when the driver dies, however it does.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != options.driver) throw Exit{exit_failure};
  const SharedBlock block = SharedBlock::attach(options.descriptor);
  std::vector<std::thread> others;
  for (int index = 1; index < options.rank_count; ++index) {
    const RankPlace place{options.first_rank + index, options.first_rank};
    others.emplace_back([&block, place] { run_rank(block.layout(), place); });
  }
  run_rank(block.layout(), {options.first_rank, options.first_rank});
  for (std::thread& other : others) other.join();
}

}  // namespace

void add_rank(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("rank", "A rank of a rank_group; started by the bench itself");
  command->group("");
  command->add_option("descriptor", options->descriptor)->required();
  command->add_option("first_rank", options->first_rank)->required();
  command->add_option("rank_count", options->rank_count)->required();
  command->add_option("driver", options->driver)->required();
  command->callback([options] { run_ranks_of_this_process(*options); });
}

}  // namespace lanewise::bench
