// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "direct/one_shot_shape.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

// More blocks only add flags: at this size a PCIe link is full.
constexpr int most_blocks_of_a_rank = 32;
constexpr std::size_t ll_payload_bytes = 8;  // of a 16-byte line
constexpr std::size_t vector_bytes = 16;

// Payload that one GPU takes in from others up to which LL is the quicker one: its second copy of
// the bytes costs less than the fence and flag it saves (2 us: 200 KiB at 100 GB/s). Through host
// memory the waiting reads cross the link too, again and again.
constexpr std::size_t ll_peer_limit = std::size_t{256} << 10;
constexpr std::size_t ll_host_limit = std::size_t{64} << 10;
constexpr std::size_t most_ll_bytes = ll_peer_limit;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t flag_bytes = 128;  // a flag's own line

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

bool reaches(const OneShotPlace& place, int rank) {
  return (place.reach >> static_cast<unsigned>(rank) & 1U) != 0;
}

}  // namespace

OneShotShape shape_of(const std::vector<OneShotPlace>& places) {
  const int ranks = static_cast<int>(places.size());
  if (ranks < 1 || ranks > most_one_shot_ranks) {
    throw Error("the one-shot all-reduce takes 1 to " + std::to_string(most_one_shot_ranks) +
                " ranks, not " + std::to_string(ranks));
  }
  OneShotShape shape;
  shape.ranks = ranks;
  shape.most_blocks = most_blocks_of_a_rank;
  std::map<std::uint64_t, int> ranks_on;
  for (const OneShotPlace& place : places) ++ranks_on[place.gpu];
  for (int rank = 0; rank < ranks; ++rank) {
    const OneShotPlace& place = places.at(static_cast<std::size_t>(rank));
    const int neighbours = ranks_on.at(place.gpu);
    shape.most_blocks = std::clamp(place.multiprocessors / neighbours, 1, shape.most_blocks);
    std::vector<bool> row;
    int host = 0;
    int peer = 0;
    for (int other = 0; other < ranks; ++other) {
      const OneShotPlace& there = places.at(static_cast<std::size_t>(other));
      const bool is_direct = reaches(place, other) && reaches(there, rank);
      row.push_back(rank != other && !is_direct);
      if (row.back()) ++host;
      if (is_direct && there.gpu != place.gpu) ++peer;
    }
    shape.uses_host.push_back(std::move(row));
    shape.host_streams = std::max(shape.host_streams, neighbours * host);
    shape.peer_streams = std::max(shape.peer_streams, neighbours * peer);
  }
  return shape;
}

OneShotProtocol OneShotShape::protocol_for(std::size_t bytes) const noexcept {
  const bool fits = bytes <= most_ll_bytes &&
                    bytes * static_cast<std::size_t>(host_streams) <= ll_host_limit &&
                    bytes * static_cast<std::size_t>(peer_streams) <= ll_peer_limit;
  return fits ? OneShotProtocol::ll : OneShotProtocol::simple;
}

int OneShotShape::blocks_for(std::size_t bytes, OneShotProtocol protocol) const noexcept {
  const std::size_t per_thread = protocol == OneShotProtocol::ll ? ll_payload_bytes : vector_bytes;
  const std::size_t blocks =
      round_up(bytes, per_thread * one_shot_threads) / (per_thread * one_shot_threads);
  return static_cast<int>(
      std::clamp<std::size_t>(blocks, 1, static_cast<std::size_t>(most_blocks)));
}

OneShotArea::OneShotArea(std::size_t max_bytes_in)
    : max_bytes(round_up(max_bytes_in, page_bytes)),
      ll_bytes(std::min(max_bytes, most_ll_bytes)),
      data_offset(2 * ll_bytes),
      flags_offset(data_offset + max_bytes),
      half_bytes(round_up(flags_offset + most_blocks_of_a_rank * flag_bytes, page_bytes)) {}

}  // namespace lanewise::bench
