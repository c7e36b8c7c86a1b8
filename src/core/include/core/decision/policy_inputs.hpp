// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What one communicator's policy is made from. All of it must be equal on all ranks: files,
// environment, ranks and nodes; nothing that only one rank can see.
#include <cstdint>
#include <optional>

#include "core/machine/gpu_sharing.hpp"
#include "core/model/latency.hpp"
#include "core/model/machine_model.hpp"
#include "core/nccl/link_evidence.hpp"
#include "core/nccl/nccl_limits.hpp"
#include "core/nccl/nccl_release.hpp"
#include "core/profile/rules.hpp"

namespace lanewise {

// Whether NCCL shows its costs: tuner v3 and later do, v2 (NCCL 2.21) does not.
enum class CostTableAccess : std::uint8_t { with_table, without_table };
// `impossible` only where the GPUs of this machine have no NVLink at all (by model).
enum class NvlinkKnowledge : std::uint8_t { unknown, impossible };
// A switch whose bandwidth collapses when two of its GPUs write to two root ports: no Tree there.
enum class SwitchKnowledge : std::uint8_t { unknown, sound, collapsing };
enum class GpuModels : std::uint8_t { unknown, same, differ };
enum class Ll128Evidence : std::uint8_t { none, soaked };
// NCCL_ALGO or NCCL_PROTO in the environment. Costs show it from v3 on; v2 cannot see it.
enum class UserFilter : std::uint8_t { none, set };

// The rules of the profile's group that matched this communicator, with how they were measured.
struct MeasuredGroup {
  RuleSet rules;
  Ll128Evidence ll128 = Ll128Evidence::none;
  LinkKind link = LinkKind::pcie;
  std::vector<UnsafeChoice> unsafe = {};
};

struct PolicyInputs {
  int ranks = 0;
  int nodes = 1;
  NcclRelease release;
  NcclLimits limits;
  CostTableAccess costs = CostTableAccess::with_table;
  UserFilter user_filter = UserFilter::none;
  NvlinkKnowledge nvlink = NvlinkKnowledge::unknown;
  SwitchKnowledge switches = SwitchKnowledge::unknown;
  GpuModels models = GpuModels::unknown;
  GpuSharing sharing = GpuSharing::one_rank_a_gpu;
  LinkRates links;
  Transport transport = Transport::unknown;
  std::optional<int> channels;  // comm->nChannels where somebody knows it
  std::optional<MeasuredGroup> profile;
  // Of just these ranks here; counts before links, transport and channels.
  std::optional<MachineFit> fit;
};

}  // namespace lanewise
