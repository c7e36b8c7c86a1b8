// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The answers that a communicator gave, as they were written: the same call at the same costs gets
// the same again, for a few dozen instructions. A slot is lost to the next size that falls into it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/nccl/choice.hpp"
#include "core/nccl/cost_table.hpp"
#include "host/counters/live_counters.hpp"
#include "nccl_abi.hpp"

namespace lanewise::plugin {

struct Call {
  abi::Function function = 0;
  std::size_t bytes = 0;
  int pipe_ops = 1;
  // Of this rank alone: counted, and never part of a decision.
  host::CallBuffers buffers = host::CallBuffers::eager;
  friend bool operator==(const Call&, const Call&) = default;
};

struct CachedAnswer {
  Call call;
  std::array<std::uint64_t, 3> costs{};
  std::optional<Choice> choice;           // none: NCCL's stood
  int channels = 0;                       // of the choice, or those of stock; 0: none asked for
  host::CounterEntry* counter = nullptr;  // null: not counted
};

class AnswerCache {
 public:
  // Null where this call was not answered at these costs, or where it may depend on more of them.
  [[nodiscard]] const CachedAnswer* find(const Call& call, const CostTable& table) const noexcept {
    const CachedAnswer& answer = answers_[slot_of(call.bytes)];
    const bool is_known =
        answer.call == call && table.is_tree_and_ring_only() && table.has_bits(answer.costs);
    return is_known ? &answer : nullptr;
  }
  void keep(const CachedAnswer& answer) noexcept { answers_[slot_of(answer.call.bytes)] = answer; }

 private:
  static constexpr unsigned slot_bits = 6;
  // Fibonacci hashing: sizes that are multiples of one another land in different slots.
  static std::size_t slot_of(std::size_t bytes) noexcept {
    return bytes * 0x9e3779b97f4a7c15U >> (64 - slot_bits);
  }
  static constexpr abi::Function no_function = -1;

  std::array<CachedAnswer, std::size_t{1} << slot_bits> answers_ = make_empty();
  static constexpr std::array<CachedAnswer, std::size_t{1} << slot_bits> make_empty() noexcept {
    std::array<CachedAnswer, std::size_t{1} << slot_bits> answers{};
    for (auto& answer : answers) answer.call.function = no_function;
    return answers;
  }
};

}  // namespace lanewise::plugin
