// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/counters/counter_key.hpp"

namespace lanewise::host {
namespace {

constexpr int coarse_width = 5;
constexpr std::uint64_t size_mask = ~((std::uint64_t{1} << counter_bits::size) - 1);
constexpr std::uint64_t exactness_bit = std::uint64_t{1} << counter_bits::exactness;

std::uint64_t field(std::uint64_t key, int bit, int width) noexcept {
  return key >> bit & ((std::uint64_t{1} << width) - 1);
}

std::size_t bytes_of(std::uint64_t key) noexcept {
  using namespace counter_bits;
  return static_cast<std::size_t>(field(key, size, size_width)) << field(key, exponent, 6);
}

}  // namespace

CounterMeaning read_counter_key(std::uint64_t key) noexcept {
  using namespace counter_bits;
  CounterMeaning meaning;
  meaning.call.bytes = bytes_of(key);
  meaning.call.buffers = static_cast<CallBuffers>(field(key, buffers, 1));
  meaning.call.effect = static_cast<CallEffect>(field(key, effect, 1));
  meaning.exactness = static_cast<SizeExactness>(field(key, exactness, 1));
  meaning.record = static_cast<std::uint32_t>(field(key, counter_bits::record, 8));
  const auto from = static_cast<Source>(field(key, source, 2));
  const auto algorithm_index = field(key, algorithm, 3);
  const auto protocol_index = field(key, protocol, 2);
  if (from == Source::none) {
    meaning.call.direct = static_cast<DirectForm>(algorithm_index & 3U);
    return meaning;
  }
  if (algorithm_index >= algorithm_count || protocol_index >= protocol_count) return meaning;
  meaning.call.decision =
      Decision{{static_cast<Algorithm>(algorithm_index), static_cast<Protocol>(protocol_index),
                static_cast<int>(field(key, channels, 7))},
               from};
  return meaning;
}

std::uint64_t coarse_counter_key(std::uint64_t key) noexcept {
  const auto kept = key & ~size_mask & ~exactness_bit;
  const auto was_rounded = key & exactness_bit;
  return kept | was_rounded | size_bits(bytes_of(key), coarse_width);
}

}  // namespace lanewise::host
