// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A page or four in /dev/shm over which the ranks of a communicator exchange words while they make
// their group.
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lanewise::direct {

class RankBoard {
 public:
  // Throws Error with what was refused.
  RankBoard(std::uint64_t name, int rank, int ranks, std::chrono::milliseconds limit);
  RankBoard(const RankBoard&) = delete;
  RankBoard& operator=(const RankBoard&) = delete;
  // Frees the name.
  ~RankBoard();

  // Everyone's words in rank order, at most 32 of each; a few times. Throws Error that names the
  // rank that did not come within the limit, or gave up.
  [[nodiscard]] std::vector<std::uint64_t> gather(std::span<const std::uint64_t> mine);
  // Lets all others leave at once.
  void give_up() noexcept;

 private:
  struct Page;

  std::string path_;
  int rank_;
  int ranks_;
  std::chrono::milliseconds limit_;
  std::size_t round_ = 0;
  Page* page_ = nullptr;
};

}  // namespace lanewise::direct
