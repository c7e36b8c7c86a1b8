// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/environment_key.hpp"

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

// Left out with a reason:
// - NCCL_CUMEM_ENABLE, NCCL_CUMEM_HOST_ENABLE: they change how a buffer is mapped, not the path its
//   bytes take, and engines set them after their start, where no bench could have seen them.
// - NCCL_NVLS_ENABLE, NCCL_COLLNET_ENABLE: both need hardware that Lanewise leaves alone.
// - NCCL_MULTI_RANK_GPU_ENABLE: allows a communicator; the group's GPUs say the rest.
// - NCCL_IB_*, NCCL_SOCKET_*, NCCL_NET_*, NCCL_CROSS_NIC: between nodes; Lanewise stays inside one.
// - NCCL_DEBUG_*, *_PLUGIN: no part in a transfer.
constexpr std::array<std::string_view, 29> names = {
    // Transport.
    "NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_P2P_DIRECT_DISABLE", "NCCL_P2P_READ_ENABLE",
    "NCCL_P2P_USE_CUDA_MEMCPY", "NCCL_SHM_DISABLE", "NCCL_SHM_USE_CUDA_MEMCPY",
    "NCCL_SHM_MEMCPY_MODE", "NCCL_SHM_LOCALITY", "NCCL_GRAPH_REGISTER", "NCCL_LOCAL_REGISTER",
    // Rings, trees and their channels.
    "NCCL_GRAPH_FILE", "NCCL_TOPO_FILE", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
    "NCCL_MIN_NRINGS", "NCCL_MAX_NRINGS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS", "NCCL_CTA_POLICY",
    "NCCL_CGA_CLUSTER_SIZE",
    // Threads and buffers.
    "NCCL_NTHREADS", "NCCL_LL128_NTHREADS", "NCCL_THREAD_THRESHOLDS", "NCCL_BUFFSIZE",
    "NCCL_LL_BUFFSIZE", "NCCL_LL128_BUFFSIZE",
    // Which entries are priced at all.
    "NCCL_ALGO", "NCCL_PROTO"};

std::string describe(const Environment& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "not set" : found->second;
}

}  // namespace

std::span<const std::string_view> keyed_variables() noexcept { return names; }

Environment keyed_part(const Environment& variables) {
  Environment part;
  for (const auto& [name, value] : variables)
    if (!value.empty() && std::find(names.begin(), names.end(), name) != names.end())
      part.emplace(name, value);
  return part;
}

std::string describe_difference(const Environment& there, const Environment& here) {
  Environment all = there;
  all.insert(here.begin(), here.end());
  std::string text;
  for (const auto& [name, value] : all) {
    const auto measured = describe(there, name);
    const auto now = describe(here, name);
    if (measured == now) continue;
    if (!text.empty()) text += ", ";
    text.append(name).append(" is ").append(measured).append(" there and ").append(now);
    text += " here";
  }
  return text;
}

}  // namespace lanewise
