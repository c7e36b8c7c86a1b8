// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What ranks put into a one-shot all-reduce and the exact bits that must come out, on the host.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lanewise::bench {

// Both signs, and magnitudes from 2^-12 to 2^3: sums round in every type.
[[nodiscard]] inline float input_value(std::uint64_t seed, int rank, std::size_t index) noexcept {
  std::uint64_t bits = seed * 0x9e3779b97f4a7c15ULL + index * 0xbf58476d1ce4e5b9ULL +
                       static_cast<std::uint64_t>(rank) * 0x94d049bb133111ebULL;
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9ULL;
  bits ^= bits >> 32;
  const float unit = static_cast<float>(static_cast<std::int64_t>(bits & 0xffff) - 0x8000) / 4096;
  return (bits >> 16 & 1) != 0 ? unit : unit / 512;
}

// `Rounding` has the type Element and the static functions Element round(float) and
// float widen(Element).
template <typename Rounding>
std::vector<typename Rounding::Element> make_input(std::uint64_t seed, int rank,
                                                   std::size_t count) {
  std::vector<typename Rounding::Element> input(count);
  for (std::size_t i = 0; i < count; ++i) input[i] = Rounding::round(input_value(seed, rank, i));
  return input;
}

// Floats added in the order of ranks, rounded once.
template <typename Rounding>
std::vector<typename Rounding::Element> sum_inputs(std::uint64_t seed, int ranks,
                                                   std::size_t count) {
  std::vector<typename Rounding::Element> sums(count);
  for (std::size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      sum += Rounding::widen(Rounding::round(input_value(seed, rank, i)));
    }
    sums[i] = Rounding::round(sum);
  }
  return sums;
}

}  // namespace lanewise::bench
