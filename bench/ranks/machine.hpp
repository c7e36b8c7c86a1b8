// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The options of a command joined with what this machine has, and what ranks need there in their
// environment.
#include <optional>
#include <string>
#include <vector>

#include "core/nccl/nccl_release.hpp"
#include "core/profile/profile.hpp"
#include "rank_group.hpp"
#include "rank_options.hpp"

namespace lanewise::bench {

struct Machine {
  int ranks = 0;
  int gpus = 0;
  int multiprocessors = 0;  // of the smallest GPU
  std::vector<std::string> gpu_names;
  NcclRelease nccl;
  RankKind kind = RankKind::processes;
  std::string plugin;  // its file
  std::string job;     // of joined ranks

  // Nullopt where each rank has a GPU to itself, see search/crowding.hpp.
  [[nodiscard]] std::optional<int> channels_that_fit() const;
};

// Throws Error that says what is missing: driver, GPU, NCCL, the plugin, or what more ranks than
// GPUs need. Under mpirun or torchrun only rank 0 returns: the others serve it and then throw Exit.
[[nodiscard]] Machine inspect_machine(const RankOptions& options);

// What ranks need in their environment: with the plugin (and no profile) or without any, and where
// several share a GPU NCCL's permission and a limit of channels. What the user has set wins.
[[nodiscard]] Environment environment_without_plugin(const Machine& machine);
[[nodiscard]] Environment environment_with_plugin(const Machine& machine);

}  // namespace lanewise::bench
