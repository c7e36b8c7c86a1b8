// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/link_evidence.hpp"

namespace lanewise {
namespace {

// NCCL's fixed part of Ring, microseconds (NCCL_ABI.md section 4): base + 2(n-1) * hop.
struct RingLatency {
  double base_us;
  double nvlink_hop_us;
  double pcie_hop_us;
};
constexpr RingLatency ring_ll = {6.6, 0.6, 1.0};
constexpr RingLatency ring_simple = {8.4, 3.4, 5.7};

double fixed_us(const RingLatency& latency, LinkKind kind, int ranks) noexcept {
  const double hop = kind == LinkKind::nvlink ? latency.nvlink_hop_us : latency.pcie_hop_us;
  return latency.base_us + 2.0 * (ranks - 1) * hop;
}

// Above these ranks NCCL guards fp8 sums against Ring's rounding, by this factor. A sixteenth of it
// tells: without the guard Ring's fixed part is as reckoned, and Ring costs no more than Tree.
constexpr int most_ranks_of_ring = 8;
constexpr double guard_factor = 1024;
constexpr double guard_evidence = guard_factor / 16;

// LL's bandwidth is half of Simple's, or less where a cap holds it (NVLink only). So
// LL - 2 * Simple cancels the bytes and leaves the fixed parts, which tell the link.
double difference(LinkKind kind, int ranks) noexcept {
  return fixed_us(ring_ll, kind, ranks) - 2 * fixed_us(ring_simple, kind, ranks);
}

LinkKind kind_of(double ll_us, double simple_us, int ranks, int pipe_ops) noexcept {
  const double middle =
      pipe_ops * (difference(LinkKind::pcie, ranks) + difference(LinkKind::nvlink, ranks)) / 2;
  return ll_us - 2 * simple_us < middle ? LinkKind::pcie : LinkKind::nvlink;
}

}  // namespace

bool is_ring_guarded(const CostTable& table, int ranks, int pipe_ops) noexcept {
  if (ranks <= most_ranks_of_ring) return false;
  const auto ll = table.cost(Algorithm::ring, Protocol::ll);
  const auto simple = table.cost(Algorithm::ring, Protocol::simple);
  if (ll && simple)
    return *ll - 2 * *simple < guard_evidence * pipe_ops * difference(LinkKind::pcie, ranks);
  for (const auto protocol : {Protocol::ll, Protocol::simple}) {
    const auto ring = table.cost(Algorithm::ring, protocol);
    const auto tree = table.cost(Algorithm::tree, protocol);
    if (ring && tree && *ring > guard_evidence * *tree) return true;
  }
  return false;
}

LinkEvidence link_evidence(const CostTable& table, std::size_t bytes, int ranks,
                           int pipe_ops) noexcept {
  LinkEvidence evidence;
  const auto ll = table.cost(Algorithm::ring, Protocol::ll);
  const auto simple = table.cost(Algorithm::ring, Protocol::simple);
  if (!ll || !simple || ranks < 2 || bytes == 0) return evidence;
  const double factor = is_ring_guarded(table, ranks, pipe_ops) ? guard_factor : 1;
  evidence.kind = kind_of(*ll / factor, *simple / factor, ranks, pipe_ops);
  const double moving_us =
      *simple / factor - pipe_ops * fixed_us(ring_simple, evidence.kind, ranks);
  if (moving_us <= 0) return evidence;
  const double bus_per_algorithm = 2.0 * (ranks - 1) / ranks;
  evidence.bus_bandwidth = static_cast<double>(bytes) / 1000 / moving_us * bus_per_algorithm;
  return evidence;
}

bool is_absurd(const LinkEvidence& evidence) noexcept {
  return evidence.bus_bandwidth && *evidence.bus_bandwidth < absurd_bandwidth;
}

}  // namespace lanewise
