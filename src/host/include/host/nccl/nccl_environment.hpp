// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's own variables, read as NCCL reads them: what they limit, and whether they filter choices.
#include "core/decision/policy_inputs.hpp"
#include "core/nccl/cost_filter.hpp"
#include "core/nccl/cost_model.hpp"
#include "core/nccl/nccl_limits.hpp"
#include "core/profile/profile.hpp"

namespace lanewise::host {

// A value that NCCL would not take as a number, or a negative one, counts as not set, as in NCCL.
[[nodiscard]] NcclLimits parse_nccl_limits(const Environment& environment);

// Set where NCCL_ALGO or NCCL_PROTO has a value, whatever it says.
[[nodiscard]] UserFilter find_user_filter(const Environment& environment);

// What NCCL_ALGO and NCCL_PROTO leave of the costs; throws Error for a word that NCCL refuses.
[[nodiscard]] CostFilter find_cost_filter(const Environment& environment,
                                          const NcclRelease& release);

// None where NCCL_P2P_DISABLE or NCCL_P2P_LEVEL forbids it below a switch, or the GPUs have none.
[[nodiscard]] PeerAccess find_peer_access(const Environment& environment, const Topology& topology);

// Host memory where NCCL_P2P_DISABLE says so; whether peer access works no variable tells.
[[nodiscard]] Transport find_transport(const Environment& environment);

// What the environment alone says: without NCCL_MULTI_RANK_GPU_ENABLE NCCL refuses to share a GPU.
[[nodiscard]] GpuSharing find_gpu_sharing(const Environment& environment);

}  // namespace lanewise::host
