// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The pattern that links are checked with, and the bounded wait that both kinds of kernel share.
#include <cstdint>

#include "kernels/gpu/device.hpp"
#include "link_kernels.hpp"

namespace lanewise::bench::device {

using namespace direct::device;

__device__ inline const Pair* as_pairs(const Vector* memory) {
  return reinterpret_cast<const Pair*>(memory);
}
__device__ inline Pair* as_pairs(Vector* memory) { return reinterpret_cast<Pair*>(memory); }

// Splitmix64's mixing: neighbours, rounds and seeds share no words.
__device__ inline std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

__device__ inline Pair pattern(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t word = mix(seed * 0x9e3779b97f4a7c15ULL + 2 * index + 1);
  return {word, ~mix(word)};
}

__device__ inline bool is_equal(const Pair& a, const Pair& b) {
  return a.low == b.low && a.high == b.high;
}

__device__ __forceinline__ std::uint64_t now_ns() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(value)::"memory");
  return value;
}

// Reads the clock only now and then, so that a wait that succeeds at once costs nothing more.
class Patience {
 public:
  __device__ explicit Patience(std::uint64_t limit_ns) : limit_ns_(limit_ns) {}

  // False once the limit has passed since the first polls.
  __device__ __forceinline__ bool lasts() {
    if ((++polls_ & (polls_per_look - 1)) != 0) return true;
    const std::uint64_t now = now_ns();
    if (begin_ns_ == 0) begin_ns_ = now;
    return now - begin_ns_ < limit_ns_;
  }

 private:
  std::uint64_t limit_ns_;
  std::uint64_t begin_ns_ = 0;
  std::uint32_t polls_ = 0;
};

__device__ inline bool wait_for(const std::uint64_t* flag, std::uint64_t value,
                                std::uint64_t limit_ns) {
  Patience patience(limit_ns);
  while (load_acquire(flag) < value) {
    if (!patience.lasts()) return false;
  }
  return true;
}

}  // namespace lanewise::bench::device
