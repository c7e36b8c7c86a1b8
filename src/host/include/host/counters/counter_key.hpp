// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What is counted of a call, as the 64-bit key of its counter. Shared by the writer and the reader.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/decision/decision.hpp"

namespace lanewise::host {

// NCCL registers the buffers of a call for capture: on unregistered buffers, captured is what it
// says. The choice counts as applied where it was written into NCCL's outputs.
enum class CallBuffers : std::uint8_t { eager, captured };
enum class CallEffect : std::uint8_t { left_to_nccl, applied };
enum class SizeExactness : std::uint8_t { exact, rounded_up };
// How the direct layer summed a call, where it took it.
enum class DirectForm : std::uint8_t { none, one_shot_ll, one_shot_simple, two_shot };

struct CountedCall {
  std::size_t bytes = 0;
  std::optional<Decision> decision;  // none: NCCL's choice stood
  CallBuffers buffers = CallBuffers::eager;
  CallEffect effect = CallEffect::left_to_nccl;
  DirectForm direct = DirectForm::none;  // only without a decision
  friend bool operator==(const CountedCall&, const CountedCall&) = default;
};

// Bit 0 is always set, so that no key is 0. Sizes are exact below 16 MiB and have 24 bits above.
namespace counter_bits {
inline constexpr int buffers = 1;
inline constexpr int effect = 2;
inline constexpr int exactness = 3;
inline constexpr int source = 4;
inline constexpr int algorithm = 6;
inline constexpr int protocol = 9;
inline constexpr int channels = 11;
inline constexpr int record = 18;
inline constexpr int size = 26;
inline constexpr int exponent = 50;
inline constexpr int size_width = 24;
}  // namespace counter_bits

// The size part of a key with this many leading bits, rounded up: at most 1/2^(width-1) too large.
[[nodiscard]] constexpr std::uint64_t size_bits(std::size_t bytes, int width) noexcept {
  int exponent = static_cast<int>(std::bit_width(bytes)) - width;
  if (exponent <= 0) return std::uint64_t{bytes} << counter_bits::size;
  const std::size_t below = (std::size_t{1} << exponent) - 1;
  std::uint64_t mantissa = (bytes >> exponent) + ((bytes & below) != 0 ? 1U : 0U);
  const std::uint64_t rounded = (bytes & below) != 0 ? 1U : 0U;
  // A mantissa that does not fit in its bits only leaves trailing zeros to the exponent.
  while (mantissa >> counter_bits::size_width != 0) {
    mantissa >>= 1;
    ++exponent;
  }
  return mantissa << counter_bits::size |
         static_cast<std::uint64_t>(exponent) << counter_bits::exponent |
         rounded << counter_bits::exactness;
}

[[nodiscard]] constexpr std::uint64_t counter_key(const CountedCall& call,
                                                  std::uint32_t record) noexcept {
  using namespace counter_bits;
  std::uint64_t key = 1 | static_cast<std::uint64_t>(call.buffers) << buffers |
                      static_cast<std::uint64_t>(call.effect) << effect |
                      std::uint64_t{record} << counter_bits::record;
  if (call.decision) {
    const Choice& choice = call.decision->choice;
    key |= static_cast<std::uint64_t>(call.decision->source) << source |
           static_cast<std::uint64_t>(choice.algorithm) << algorithm |
           static_cast<std::uint64_t>(choice.protocol) << protocol |
           (static_cast<std::uint64_t>(choice.channels) & 127U) << channels;
  } else {
    key |= static_cast<std::uint64_t>(call.direct) << algorithm;
  }
  return key | (call.bytes >> size_width == 0 ? std::uint64_t{call.bytes} << size
                                              : size_bits(call.bytes, size_width));
}

struct CounterMeaning {
  CountedCall call;
  std::uint32_t record = 0;
  SizeExactness exactness = SizeExactness::exact;
};
[[nodiscard]] CounterMeaning read_counter_key(std::uint64_t key) noexcept;

// The same call of another record.
[[nodiscard]] constexpr std::uint64_t with_record(std::uint64_t key,
                                                  std::uint32_t record) noexcept {
  constexpr std::uint64_t mask = std::uint64_t{0xff} << counter_bits::record;
  return (key & ~mask) | std::uint64_t{record} << counter_bits::record;
}

// The same call with its size rounded up to 5 leading bits, at most 6 % too large: for a table that
// is getting full of sizes.
[[nodiscard]] std::uint64_t coarse_counter_key(std::uint64_t key) noexcept;

}  // namespace lanewise::host
