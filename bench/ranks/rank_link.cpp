// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "rank_link.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "wait.hpp"

namespace lanewise::bench {
namespace {

template <std::size_t size>
void store_text(std::array<char, size>& target, std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(target.data(), text.data(), length);
  target[length] = '\0';
}

void throw_if_failed(const BlockLayout& block) {
  if (block.any_failed.load(std::memory_order_acquire) != 0) {
    throw std::runtime_error("another rank has failed");
  }
}

}  // namespace

void RankLink::begin(std::string_view phase, std::optional<int> candidate) noexcept {
  RankSlot& slot = block_.slots[static_cast<std::size_t>(place_.rank)];
  slot.candidate.store(candidate ? static_cast<std::uint32_t>(*candidate) + 1 : 0);
  store_text(slot.phase, phase);
  slot.progress.fetch_add(1, std::memory_order_release);
}

void RankLink::barrier() {
  // Those who have come this far are ahead of one that has not.
  block_.slots[static_cast<std::size_t>(place_.rank)].progress.fetch_add(1);
  const std::uint32_t generation = block_.generation.load(std::memory_order_acquire);
  const auto all = static_cast<std::uint32_t>(block_.ranks);
  if (block_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
    block_.arrived.store(0, std::memory_order_relaxed);
    block_.generation.fetch_add(1, std::memory_order_acq_rel);
    return;
  }
  Backoff backoff;
  while (block_.generation.load(std::memory_order_acquire) == generation) {
    throw_if_failed(block_);
    backoff.pause();
  }
}

std::vector<std::uint64_t> RankLink::gather(std::span<const std::uint64_t> mine) {
  RankSlot& slot = block_.slots[static_cast<std::size_t>(place_.rank)];
  if (mine.size() > slot.words.size()) throw std::runtime_error("too many words to gather");
  std::copy(mine.begin(), mine.end(), slot.words.begin());
  barrier();
  std::vector<std::uint64_t> all;
  for (int rank = 0; rank < block_.ranks; ++rank) {
    const auto& words = block_.slots[static_cast<std::size_t>(rank)].words;
    all.insert(all.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(mine.size()));
  }
  barrier();
  return all;
}

double RankLink::gather_max(double mine) {
  const std::uint64_t word = std::bit_cast<std::uint64_t>(mine);
  double largest = mine;
  for (const std::uint64_t other : gather({&word, 1})) {
    largest = std::max(largest, std::bit_cast<double>(other));
  }
  return largest;
}

std::string RankLink::next_request(std::uint32_t& last) {
  begin("waiting for the next request");
  Backoff backoff;
  while (block_.request.number.load(std::memory_order_acquire) == last) {
    throw_if_failed(block_);
    backoff.pause();
  }
  ++last;
  std::string text(block_.request.text.data(), block_.request.length);
  // The driver may write the next request only when all have read this one.
  barrier();
  return text;
}

void RankLink::answer(std::string_view text) {
  barrier();
  if (place_.rank != 0) return;
  if (text.size() > message_bytes) throw std::runtime_error("the answer is too long");
  std::memcpy(block_.answer.text.data(), text.data(), text.size());
  block_.answer.length = static_cast<std::uint32_t>(text.size());
  block_.answer.number.fetch_add(1, std::memory_order_release);
}

void RankLink::fail(std::string_view error) noexcept {
  RankSlot& slot = block_.slots[static_cast<std::size_t>(place_.rank)];
  // Those who only noticed that another failed must not hide the cause.
  const bool is_first = block_.any_failed.exchange(1, std::memory_order_acq_rel) == 0;
  if (!is_first && error == "another rank has failed") return;
  store_text(slot.error, error);
  slot.has_failed.store(1, std::memory_order_release);
}

}  // namespace lanewise::bench
