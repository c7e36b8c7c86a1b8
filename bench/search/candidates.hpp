// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The choices worth measuring at one size: what NCCL prices, with the channel counts that make a
// difference, and the order in which the wave model would try them.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/waves.hpp"
#include "core/nccl/choice.hpp"
#include "core/nccl/cost_table.hpp"
#include "core/nccl/link_evidence.hpp"
#include "core/profile/profile.hpp"

namespace lanewise {

// LL128 is unsafe on PCIe until a soak on these GPUs found no wrong sum.
enum class Ll128Use : std::uint8_t { never, where_priced };

// As in link_evidence(): NCCL prices LL128 over PCIe only where the user asks for it.
// `environment`: that of the ranks which NCCL showed these entries to.
[[nodiscard]] LinkKind link_of_entries(std::span<const Choice> entries,
                                       const Environment& environment);

// The entries NCCL prices, channels left to NCCL.
[[nodiscard]] std::vector<Choice> priced_entries(const CostTable& table, Ll128Use ll128);

// Counts to try on a communicator of `most` channels (1..64): each up to 4, then steps of a half
// or a third, as a step smaller than that moves the time less than its noise; `most` itself too.
[[nodiscard]] std::vector<int> channel_counts(int most);

// Each entry with each count; of those that NCCL would launch alike at this size, the smallest.
[[nodiscard]] std::vector<Choice> enumerate_candidates(std::span<const Choice> entries,
                                                       std::size_t bytes,
                                                       const Communicator& communicator);

// The `keep` candidates that the model predicts to be fastest, in that order, but never without
// the best of each algorithm and protocol: the model may be wrong about one. Candidates that it
// does not know come last and are all kept.
[[nodiscard]] std::vector<Choice> prune_by_model(std::span<const Choice> candidates,
                                                 std::size_t bytes,
                                                 const Communicator& communicator,
                                                 std::size_t keep);

}  // namespace lanewise
