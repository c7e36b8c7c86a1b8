// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "commands/commands.hpp"
#include "comparison/candidate.hpp"
#include "core/error.hpp"
#include "gpu/devices.hpp"
#include "gpu/nccl_library.hpp"
#include "gpu/plugin_control.hpp"
#include "host/profile/profile_search.hpp"
#include "joined_ranks.hpp"
#include "search/crowding.hpp"
#include "start_ranks.hpp"

namespace lanewise::bench {
namespace {

constexpr NcclRelease first_with_ranks_on_one_gpu{2, 30, 3};
// What NCCL's search finds at most inside a node: above it a limit would only make another key.
constexpr int most_channels_of_a_search = 32;

void check_crowding(const Machine& machine) {
  if (machine.ranks <= machine.gpus) return;
  const std::string what =
      std::to_string(machine.ranks) + " ranks on " + std::to_string(machine.gpus) + " GPUs need ";
  if (machine.kind != RankKind::threads) {
    throw Error(what + "--threads: processes on one GPU are time-sliced");
  }
  if (machine.nccl < first_with_ranks_on_one_gpu) {
    throw Error(what + "NCCL " + to_string(first_with_ranks_on_one_gpu) + " or newer, this is " +
                to_string(machine.nccl));
  }
}

void set_unless_given(Environment& variables, const char* name, const std::string& value) {
  if (std::getenv(name) == nullptr) variables.emplace(name, value);
}

void allow_crowding(const Machine& machine, Environment& variables) {
  const auto most = machine.channels_that_fit();
  if (!most) return;
  set_unless_given(variables, "NCCL_MULTI_RANK_GPU_ENABLE", "1");
  // NVLS does not work with several ranks on a GPU.
  set_unless_given(variables, "NCCL_NVLS_ENABLE", "0");
  // A hardware queue for each rank's stream: kernels of two ranks in one queue wait for each other.
  set_unless_given(variables, "CUDA_DEVICE_MAX_CONNECTIONS", "32");
  if (*most < most_channels_of_a_search)
    set_unless_given(variables, "NCCL_MAX_NCHANNELS", std::to_string(*most));
}

}  // namespace

std::optional<int> Machine::channels_that_fit() const {
  return lanewise::channels_that_fit(ranks, gpus, multiprocessors);
}

Machine inspect_machine(const RankOptions& options) {
  if (!options.inject.empty()) static_cast<void>(parse_injection(options.inject));
  const auto joined = find_joined_ranks();
  if (joined && joined->rank > 0) throw Exit{serve_joined_rank(*joined)};
  Machine machine;
  for (const Device& device : list_devices()) {
    const bool is_first = machine.gpu_names.empty();
    machine.gpu_names.push_back(device.name);
    machine.multiprocessors = is_first ? device.multiprocessors
                                       : std::min(machine.multiprocessors, device.multiprocessors);
  }
  machine.gpus = static_cast<int>(machine.gpu_names.size());
  machine.ranks = options.ranks > 0 ? options.ranks : machine.gpus;
  machine.kind = options.uses_threads ? RankKind::threads : RankKind::processes;
  if (joined) {
    machine.kind = RankKind::joined;
    machine.ranks = joined->ranks;
    machine.job = joined->job;
  }
  machine.nccl = open_nccl().release();
  machine.plugin = find_plugin(options.plugin);
  if (machine.ranks < 2) throw Error("one GPU makes no all-reduce: --ranks N --threads");
  check_crowding(machine);
  return machine;
}

Environment environment_without_plugin(const Machine& machine) {
  Environment variables;
  // Also the plugin that NCCL would find by its default name is kept out.
  variables[plugin_variable] = "none";
  allow_crowding(machine, variables);
  return variables;
}

Environment environment_with_plugin(const Machine& machine) {
  Environment variables;
  variables["LANEWISE_PROFILE"] = host::no_profile;
  // Counts outlive their process in /dev/shm, and nobody asks for those of a bench.
  set_unless_given(variables, "LANEWISE_STATS", "0");
  allow_crowding(machine, variables);
  if (machine.kind == RankKind::joined) {
    // The loader has read its path when these processes started.
    variables[plugin_variable] = machine.plugin;
    return variables;
  }
  const std::filesystem::path file = machine.plugin;
  const char* path = std::getenv("LD_LIBRARY_PATH");
  // By its short name, which every NCCL takes: 2.27.3 takes no path.
  variables[plugin_variable] = "lanewise";
  variables["LD_LIBRARY_PATH"] = file.parent_path().string() +
                                 (path != nullptr && *path != '\0' ? ":" + std::string(path) : "");
  return variables;
}

}  // namespace lanewise::bench
