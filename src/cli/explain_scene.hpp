// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#pragma once

// What `lanewise explain` knows before it looks at a size: machine, costs, profile, environments.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/decision/policy_inputs.hpp"
#include "core/machine/topology.hpp"
#include "core/model/waves.hpp"
#include "core/nccl/cost_filter.hpp"
#include "core/nccl/cost_model.hpp"
#include "core/profile/environment_standing.hpp"
#include "host/nccl/cost_table_file.hpp"
#include "host/process/settings.hpp"
#include "host/profile/profile_search.hpp"

namespace lanewise::cli {

// Where none is named: the newest that an engine of today starts with and that has had all the
// gain.
inline constexpr NcclRelease assumed_release = {2, 30, 7};

// Before it a tuner is not told who its peers are, and so not which GPUs.
inline constexpr NcclRelease first_release_with_gpus = {2, 28, 0};

struct ExplainOptions {
  std::string machine;
  std::string table;
  std::string profile;
  std::string nccl;
  std::vector<int> gpus;  // by their numbers; empty: not given
  std::optional<int> ranks;
  std::optional<int> channels;
  std::vector<std::string> bytes;  // as people write them: 14336, 14K
  std::size_t hidden = 7168;
  std::string dtype = "bf16";
  std::vector<std::size_t> tokens = {1, 2, 4, 8, 16, 32, 64};
  std::string model;  // its width counts before `hidden`; empty: not given
  bool is_json = false;
};

// The choice layer in one environment.
struct ExplainLayer {
  PolicyInputs inputs;
  Communicator communicator;
  CostFilter filter;    // of NCCL_ALGO and NCCL_PROTO there
  std::string refusal;  // why the profile's rules are not used; empty where they are
};

struct ExplainScene {
  Topology topology;
  bool is_bundled = false;  // no machine was named and here is no GPU
  host::Settings settings;
  Environment own;  // of the process and of NCCL's configuration files
  std::optional<host::CostTableFile> table;
  CostModelInputs estimated;  // where there is no table
  PeerAccess peer_access = PeerAccess::given;
  Topology used;                         // the machine with the GPUs of the ranks alone
  std::string used_numbers;              // of those GPUs: "0,1,2,3"
  bool is_first_group = false;           // nobody named them, and there are more
  std::vector<std::string> gpu_remarks;  // how they were chosen
  std::vector<int> gpus;                 // of the ranks, sorted positions; empty: not known
  std::optional<host::FoundProfile> found;
  EnvironmentCarrier carrier = EnvironmentCarrier::nobody;
  Environment seen;                             // by NCCL: `own` and what the carrier brings
  std::optional<EnvironmentStanding> standing;  // points into `found`
  ExplainLayer here;
  std::optional<ExplainLayer> with_best;  // where the best environment is not in force

  ExplainScene() = default;
  ExplainScene(const ExplainScene&) = delete;
  ExplainScene& operator=(const ExplainScene&) = delete;
};

// Throws Error for options, settings and files that cannot be used.
void set_up(ExplainScene& scene, const ExplainOptions& options);

}  // namespace lanewise::cli
