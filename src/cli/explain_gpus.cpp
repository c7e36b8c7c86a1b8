// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "explain_gpus.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "core/error.hpp"
#include "core/machine/gpu_selection.hpp"
#include "core/machine/machine_facts.hpp"
#include "host/machine/visible_devices.hpp"
#include "machine.hpp"

namespace lanewise::cli {
namespace {

using Positions = std::vector<std::size_t>;

Positions all_of(const Topology& topology) {
  Positions all(topology.gpus.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::string list_numbers(const Topology& topology, const Positions& positions) {
  const auto numbers = gpu_numbers(topology);
  std::string text;
  for (const auto position : positions)
    text += (text.empty() ? "" : ",") + std::to_string(numbers[position]);
  return text;
}

// What CUDA lets a process of this machine see; nullopt where that is everything, or not to be
// read.
std::optional<Positions> find_visible(ExplainScene& scene) {
  const char* setting = std::getenv("CUDA_VISIBLE_DEVICES");
  if (setting == nullptr || scene.is_bundled) return std::nullopt;
  const auto numbers = host::parse_visible_devices(setting);
  if (!numbers) {
    scene.gpu_remarks.push_back(std::string("CUDA_VISIBLE_DEVICES=") + setting +
                                " names GPUs by UUID, which is not read; --gpus names them");
    return std::nullopt;
  }
  const auto known = gpu_numbers(scene.topology);
  Positions visible;
  for (const int number : *numbers) {
    const auto found = std::find(known.begin(), known.end(), number);
    if (found == known.end()) break;  // as CUDA does
    visible.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  if (visible.empty())
    throw Error(std::string("CUDA_VISIBLE_DEVICES=") + setting +
                ": no GPU is visible: expected --gpus or --machine");
  scene.gpu_remarks.push_back("CUDA_VISIBLE_DEVICES: GPUs " +
                              list_numbers(scene.topology, visible) + ".");
  return visible;
}

// The GPUs that the ranks may take, in the order in which they do.
Positions find_candidates(ExplainScene& scene, const ExplainOptions& options) {
  if (!options.gpus.empty()) {
    if (scene.topology.gpus.empty()) throw Error("--gpus: expected --machine, whose GPUs they are");
    return find_gpus(scene.topology, options.gpus);
  }
  // LANEWISE_MACHINE stands for this machine, --machine for any.
  if (options.machine.empty() && !scene.topology.gpus.empty())
    if (const auto visible = find_visible(scene)) return *visible;
  return all_of(scene.topology);
}

int ranks_of(const ExplainScene& scene, const ExplainOptions& options, std::size_t gpus) {
  if (scene.table && options.ranks && *options.ranks != scene.table->ranks)
    throw Error(options.table + ": costs of " + std::to_string(scene.table->ranks) +
                " ranks: expected --ranks " + std::to_string(scene.table->ranks));
  if (options.ranks) return *options.ranks;
  if (scene.table) return scene.table->ranks;
  if (gpus == 0) throw Error(scene.topology.source + ": no GPU: expected --ranks");
  return static_cast<int>(gpus);
}

void remark_sharing(ExplainScene& scene, std::size_t ranks, std::size_t gpus) {
  scene.gpu_remarks.push_back(
      std::to_string(ranks) + " ranks on " + std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") +
      ": ranks share GPUs, which NCCL refuses but for NCCL_MULTI_RANK_GPU_ENABLE=1 (2.30.3 and "
      "later).");
}

// A position for each rank, sorted, as a profile has them; empty where nobody knows them.
std::vector<int> spread_ranks(const ExplainScene& scene, const Positions& used, std::size_t ranks) {
  const bool is_told = scene.here.inputs.release >= first_release_with_gpus ||
                       used.size() == scene.topology.gpus.size();
  std::vector<int> gpus;
  if (used.empty() || !is_told || ranks % used.size() != 0) return gpus;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    gpus.push_back(static_cast<int>(used[rank * used.size() / ranks]));
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

}  // namespace

void choose_gpus(ExplainScene& scene, const ExplainOptions& options) {
  auto used = find_candidates(scene, options);
  PolicyInputs& inputs = scene.here.inputs;
  inputs.ranks = ranks_of(scene, options, used.size());
  const auto ranks = static_cast<std::size_t>(inputs.ranks);
  if (!options.gpus.empty() && used.size() > ranks)
    throw Error("--gpus names " + std::to_string(used.size()) + " GPUs for " +
                std::to_string(ranks) + " ranks: expected at most one a rank");
  if (!used.empty() && ranks > used.size()) remark_sharing(scene, ranks, used.size());
  scene.is_first_group = options.gpus.empty() && ranks < used.size();
  if (ranks < used.size()) used.resize(ranks);
  scene.used = select_gpus(scene.topology, used);
  scene.used_numbers = list_numbers(scene.topology, used);
  scene.gpus = spread_ranks(scene, used, ranks);
}

std::string describe_other_groups(const ExplainScene& scene) {
  if (!scene.is_first_group || scene.table) return "";
  const auto search_of = [&](const Topology& topology) {
    return estimate_search(topology, scene.estimated.compute_capability, scene.peer_access,
                           scene.estimated.release);
  };
  std::string text;
  std::vector<SearchedGraph> told = {scene.estimated.ring};
  for (const auto& group : sample_groups(scene.topology, scene.used.gpus.size())) {
    const auto found = search_of(select_gpus(scene.topology, group));
    if (std::find(told.begin(), told.end(), found) != told.end()) continue;
    told.push_back(found);
    text += (text.empty() ? "" : "; ") + list_numbers(scene.topology, group) + " would get " +
            to_string(found);
  }
  return text.empty() ? "other groups of as many would get the same" : text;
}

}  // namespace lanewise::cli
