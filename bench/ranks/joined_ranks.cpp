// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "joined_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "core/error.hpp"
#include "rank_loop.hpp"
#include "shared_block.hpp"

namespace lanewise::bench {
namespace {

// How a launcher names a rank, the ranks, those of this node and the run.
struct Launcher {
  const char* rank;
  const char* ranks;
  const char* ranks_here;
  std::array<const char*, 2> job;
};
constexpr std::array launchers = {
    Launcher{"OMPI_COMM_WORLD_RANK",
             "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_SIZE",
             {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    Launcher{"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", {"TORCHELASTIC_RUN_ID", "MASTER_PORT"}},
};

std::optional<int> read_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || std::isdigit(static_cast<unsigned char>(*text)) == 0) return std::nullopt;
  return std::atoi(text);
}

std::string name_of_job(const Launcher& launcher) {
  std::string name = "/lanewise-bench-" + std::to_string(getuid());
  for (const char* part : launcher.job) {
    const char* text = std::getenv(part);
    if (text != nullptr) name += "-" + std::string(text);
  }
  std::replace_if(
      name.begin() + 1, name.end(),
      [](unsigned char letter) { return std::isalnum(letter) == 0 && letter != '-'; }, '_');
  return name;
}

}  // namespace

std::optional<JoinedRanks> find_joined_ranks() {
  for (const Launcher& launcher : launchers) {
    const auto rank = read_number(launcher.rank);
    const auto ranks = read_number(launcher.ranks);
    if (!rank || !ranks || *ranks < 2) continue;
    if (read_number(launcher.ranks_here).value_or(*ranks) != *ranks) {
      throw Error("ranks on several nodes cannot be joined, only those of one");
    }
    return JoinedRanks{*rank, *ranks, name_of_job(launcher)};
  }
  return std::nullopt;
}

int serve_joined_rank(const JoinedRanks& joined) {
  const SharedBlock block = SharedBlock::attach_named(joined.job);
  block.layout().joined.fetch_add(1);
  const int status = serve_rank(block.layout(), {joined.rank, joined.rank});
  block.layout().joined.fetch_sub(1);
  return status;
}

}  // namespace lanewise::bench
