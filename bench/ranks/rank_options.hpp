// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How many ranks, of which kind, with which plugin: the options that every measuring command has.
#include <CLI/CLI.hpp>
#include <string>

#include "core/nccl/collective.hpp"
#include "core/nccl/nccl_release.hpp"
#include "direct/data_type.hpp"
#include "rank_group.hpp"

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

// The options joined with what this machine has.
struct Machine {
  int ranks = 0;
  int gpus = 0;
  std::vector<std::string> gpu_names;
  NcclRelease nccl;
  RankKind kind = RankKind::processes;
  std::string plugin;  // its file
  std::string job;     // of joined ranks
};

// Throws Error that says what is missing: driver, GPU, NCCL, the plugin, or what more ranks than
// GPUs need. Under mpirun or torchrun only rank 0 returns: the others serve it and then throw Exit.
[[nodiscard]] Machine inspect_machine(const RankOptions& options);

// What ranks need in their environment: with the plugin (and no profile) or without any, and NCCL's
// permission for several ranks on a GPU. Variables that the user has set win.
[[nodiscard]] Environment environment_without_plugin(const Machine& machine);
[[nodiscard]] Environment environment_with_plugin(const Machine& machine);

// A payload for which NCCL uses every channel it has: 64 channels of 512 threads, each with the 64
// bytes that NCCL wants for it, eight times over. Every rank_group's buffers hold it.
inline constexpr std::size_t survey_bytes = std::size_t{16} << 20U;

// What a rank_group is opened for.
struct RankGroupNeeds {
  std::string label;
  Environment variables;
  DataType type = DataType::bf16;
  std::size_t max_bytes = 0;  // of a payload
  bool wants_one_shot = false;
};
// Starts a rank_group and creates its communicators.
[[nodiscard]] std::unique_ptr<RankGroup> open_rank_group(const Machine& machine,
                                                         const RankOptions& options,
                                                         const RankGroupNeeds& needs);

}  // namespace lanewise::bench
