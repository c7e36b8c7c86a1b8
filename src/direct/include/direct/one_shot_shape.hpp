// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How a group of ranks runs the one-shot all-reduce: which way each pair goes, how many blocks fit
// and which protocol. Every rank computes the same from the same input. No CUDA.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lanewise::bench {

inline constexpr int most_one_shot_ranks = 16;
inline constexpr unsigned one_shot_threads = 256;

// ll: each word carries its flag, so that nothing waits for a fence; twice the bytes.
// simple: data, then one flag a block.
enum class OneShotProtocol : std::uint8_t { ll, simple };

// Where a rank runs and whose memory it can store into.
struct OneShotPlace {
  std::uint64_t gpu = 0;    // the same number for the same GPU
  int multiprocessors = 1;  // of that GPU
  std::uint64_t reach = 0;  // bit r: it can store into rank r's GPU memory
};

struct OneShotShape {
  int ranks = 0;
  int most_blocks = 1;  // of one rank: all ranks of a GPU are resident at once
  // A pair whose ranks reach each other stores into GPU memory, any other goes through the host's.
  std::vector<std::vector<bool>> uses_host;  // [rank][rank], symmetric
  // The most ranks of one GPU times the peers on other GPUs of each, by way.
  int host_streams = 0;
  int peer_streams = 0;

  [[nodiscard]] OneShotProtocol protocol_for(std::size_t bytes) const noexcept;
  // `bytes` > 0.
  [[nodiscard]] int blocks_for(std::size_t bytes, OneShotProtocol protocol) const noexcept;
};

// Throws Error for no ranks or more than most_one_shot_ranks.
[[nodiscard]] OneShotShape shape_of(const std::vector<OneShotPlace>& places);

// Offsets inside the area that one sender fills: twice (calls alternate) LL lines, data and flags.
struct OneShotArea {
  explicit OneShotArea(std::size_t max_bytes);

  std::size_t max_bytes;
  std::size_t ll_bytes;  // payload that LL can carry
  std::size_t data_offset;
  std::size_t flags_offset;
  std::size_t half_bytes;

  [[nodiscard]] std::size_t bytes() const noexcept { return 2 * half_bytes; }
};

}  // namespace lanewise::bench
