// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/nccl_environment.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/machine/topology_facts.hpp"

namespace lanewise::host {
namespace {

const std::string* find(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? nullptr : &found->second;
}

// NCCL's own rule: strtoll of any base, and what follows the number is not looked at.
std::optional<long long> parse_number(const char* text, char** end) {
  errno = 0;
  const long long value = std::strtoll(text, end, 0);
  if (errno != 0 || *end == text) return std::nullopt;
  return value;
}

std::optional<int> read_count(const Environment& environment, const char* name) {
  const std::string* text = find(environment, name);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const auto value = parse_number(text->c_str(), &end);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<int>(std::min<long long>(*value, std::numeric_limits<int>::max()));
}

std::optional<int> read_either(const Environment& environment, const char* name,
                               const char* older_name) {
  const auto value = read_count(environment, name);
  return value ? value : read_count(environment, older_name);
}

void read_thresholds(const Environment& environment, NcclLimits& limits) {
  const std::string* text = find(environment, "NCCL_THREAD_THRESHOLDS");
  if (text == nullptr) return;
  const char* rest = text->c_str();
  for (auto& row : limits.thread_thresholds) {
    for (auto& threshold : row) {
      char* end = nullptr;
      const auto value = parse_number(rest, &end);
      if (!value) return;
      if (*value >= 0) threshold = value;
      rest = end;
    }
  }
}

}  // namespace

NcclLimits parse_nccl_limits(const Environment& environment) {
  NcclLimits limits;
  limits.min_channels = read_either(environment, "NCCL_MIN_NCHANNELS", "NCCL_MIN_NRINGS");
  limits.max_channels = read_either(environment, "NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS");
  limits.min_ctas = read_count(environment, "NCCL_MIN_CTAS");
  limits.max_ctas = read_count(environment, "NCCL_MAX_CTAS");
  limits.threads = read_count(environment, "NCCL_NTHREADS");
  read_thresholds(environment, limits);
  return limits;
}

UserFilter find_user_filter(const Environment& environment) {
  const bool is_set =
      find(environment, "NCCL_ALGO") != nullptr || find(environment, "NCCL_PROTO") != nullptr;
  return is_set ? UserFilter::set : UserFilter::none;
}

CostFilter find_cost_filter(const Environment& environment, const NcclRelease& release) {
  const std::string* algorithms = find(environment, "NCCL_ALGO");
  const std::string* protocols = find(environment, "NCCL_PROTO");
  return parse_cost_filter(algorithms == nullptr ? "" : *algorithms,
                           protocols == nullptr ? "" : *protocols, release);
}

PeerAccess find_peer_access(const Environment& environment, const Topology& topology) {
  // LOC and NVL, as words and as the numbers that NCCL keeps for them.
  constexpr std::array<std::string_view, 3> levels = {"LOC", "NVL", "0"};
  const std::string* level = find(environment, "NCCL_P2P_LEVEL");
  const bool is_too_near =
      level != nullptr && std::find(levels.begin(), levels.end(), *level) != levels.end();
  const bool is_disabled = read_count(environment, "NCCL_P2P_DISABLE").value_or(0) > 0;
  return is_too_near || is_disabled || !has_peer_access(topology) ? PeerAccess::none
                                                                  : PeerAccess::given;
}

Transport find_transport(const Environment& environment) {
  return read_count(environment, "NCCL_P2P_DISABLE").value_or(0) > 0 ? Transport::host_memory
                                                                     : Transport::unknown;
}

GpuSharing find_gpu_sharing(const Environment& environment) {
  return read_count(environment, "NCCL_MULTI_RANK_GPU_ENABLE").value_or(0) > 0
             ? GpuSharing::shared
             : GpuSharing::one_rank_a_gpu;
}

}  // namespace lanewise::host
