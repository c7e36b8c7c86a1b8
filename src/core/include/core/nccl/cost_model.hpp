// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's own cost model of an all-reduce on one node (NCCL_ABI.md section 4): what a tuner is
// handed, for `lanewise explain` and tests. Nothing here decides in the plugin.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/machine/topology.hpp"
#include "core/nccl/choice.hpp"
#include "core/nccl/link_evidence.hpp"
#include "core/nccl/nccl_release.hpp"

namespace lanewise {

// What NCCL goes on with after its graph search: channels before they are doubled, the fewer of
// ring and tree; GB/s of each.
struct SearchedGraph {
  int channels = 1;
  double channel_bandwidth = 0;
  friend bool operator==(const SearchedGraph&, const SearchedGraph&) = default;
};

// "2 channels of 24 GB/s", "no ring".
[[nodiscard]] std::string to_string(const SearchedGraph& graph);

// Whether GPUs below one switch reach each other there; through host memory they share its uplink.
enum class PeerAccess : std::uint8_t { given, none };

enum class Ll128Pricing : std::uint8_t { forbidden, priced };

struct CostModelInputs {
  int ranks = 0;                 // >= 2
  int compute_capability = 120;  // the lowest of the GPUs: 89, 90, 120
  NcclRelease release;
  LinkKind link = LinkKind::pcie;
  SearchedGraph ring;
  SearchedGraph tree;
  Ll128Pricing ll128 = Ll128Pricing::forbidden;
};

// NCCL's table row by row, with -1 where nothing is priced.
using CostArray = std::array<float, algorithm_count * protocol_count>;

// Microseconds of an all-reduce with one operation in its group; nullopt where NCCL prices nothing.
[[nodiscard]] std::optional<double> cost_us(Algorithm algorithm, Protocol protocol,
                                            std::size_t bytes,
                                            const CostModelInputs& inputs) noexcept;
[[nodiscard]] CostArray cost_array(std::size_t bytes, const CostModelInputs& inputs) noexcept;

// An estimate of what the search finds for `ranks` GPUs of this machine, from the slowest link and
// the link between sockets; Gen5 x16 and one socket where the topology does not know.
[[nodiscard]] SearchedGraph estimate_search(const Topology& topology, int compute_capability,
                                            PeerAccess access, const NcclRelease& release);
// With the access that the GPUs' models have by themselves, of 2.30.7: later releases find more.
[[nodiscard]] SearchedGraph estimate_search(const Topology& topology, int compute_capability);

}  // namespace lanewise
