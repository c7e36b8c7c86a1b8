// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Brings back stock's channels where the base environment is in force: there a tuner that gives no
// answer leaves NCCL more channels than it takes by itself.
#include <optional>

#include "core/decision/decision.hpp"
#include "core/nccl/cost_table.hpp"
#include "core/nccl/nccl_limits.hpp"
#include "core/nccl/nccl_release.hpp"

namespace lanewise {

class StockChannels {
 public:
  // Of a communicator with these limits in force; its channels are not known.
  StockChannels() noexcept = default;
  StockChannels(int ranks, const NcclRelease& release, const NcclLimits& limits) noexcept;

  // Whether the base environment is in force.
  [[nodiscard]] bool is_needed() const noexcept { return is_needed_; }
  // The channels to ask for, for any collective and any nodes; nullopt: leave them to NCCL.
  //
  // Threads cannot be asked for, they follow NCCL's own count. Where stock takes two channels or
  // more they are stock's; where it takes one, below 4096 bytes * ranks, stock's block may have 96
  // to 256 threads and this one has up to 512: fewer waves, never more. Before NCCL 2.22 (no table)
  // nothing is brought back, and for an all-gather on 2.29 and 2.30 no count above the fewest that
  // a communicator may have: NCCL does not check it there.
  [[nodiscard]] std::optional<int> answer(const Query& query,
                                          const CostTable& table) const noexcept;

 private:
  bool is_needed_ = false;
  NcclRelease release_;
  NcclLimits stock_;
  int fewest_channels_ = 1;
};

}  // namespace lanewise
