// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One rank's end of the shared block. Every wait ends with an exception when another rank fails;
// a rank that hangs is the driver's business, which kills the rank_group.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared_block.hpp"

namespace lanewise::bench {

// Where a rank runs. `leader` is the lowest rank of its process: the plugin is steered by it.
struct RankPlace {
  int rank = 0;
  int leader = 0;
};

class RankLink {
 public:
  RankLink(BlockLayout& block, RankPlace place) : block_(block), place_(place) {}

  [[nodiscard]] int rank() const noexcept { return place_.rank; }
  [[nodiscard]] int ranks() const noexcept { return block_.ranks; }
  [[nodiscard]] bool leads_process() const noexcept { return place_.rank == place_.leader; }
  [[nodiscard]] std::array<char, 128>& unique_id() const noexcept { return block_.unique_id; }

  // Says what this rank is about to do, and for which candidate; shown if it dies or hangs.
  void begin(std::string_view phase, std::optional<int> candidate = std::nullopt) noexcept;
  // Waits for all ranks; counts as progress.
  void barrier();
  // The words of all ranks in rank order: words[rank * mine.size() + i]. At most 64 each.
  [[nodiscard]] std::vector<std::uint64_t> gather(std::span<const std::uint64_t> mine);
  // The largest of all ranks' numbers.
  [[nodiscard]] double gather_max(double mine);

  // The next request after number `last`, which is advanced. Throws where a rank has failed.
  [[nodiscard]] std::string next_request(std::uint32_t& last);
  // Rank 0's answer is the rank_group's; others' are dropped.
  void answer(std::string_view text);
  // Records the first failure of this rank, for the driver and for the others.
  void fail(std::string_view error) noexcept;

 private:
  BlockLayout& block_;
  RankPlace place_;
};

}  // namespace lanewise::bench
