// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Loads and stores that other GPUs and the host see, in PTX's memory model, and bounded waits.
// For .cu files only.
#include <cstdint>

namespace lanewise::bench::device {

// 16 bytes as two words: each word is read and written in one piece, the pair need not be.
struct Pair {
  std::uint64_t low;
  std::uint64_t high;
};

__device__ __forceinline__ std::uint64_t load_relaxed(const std::uint64_t* address) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

__device__ __forceinline__ std::uint64_t load_acquire(const std::uint64_t* address) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

__device__ __forceinline__ void store_relaxed(std::uint64_t* address, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

// Cumulative: after a barrier of the block it also releases what the block's other threads wrote.
__device__ __forceinline__ void store_release(std::uint64_t* address, std::uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

__device__ __forceinline__ Pair load_pair(const Pair* address) {
  Pair value;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(value.low), "=l"(value.high)
               : "l"(address)
               : "memory");
  return value;
}

__device__ __forceinline__ void store_pair(Pair* address, const Pair& value) {
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(value.low),
               "l"(value.high)
               : "memory");
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
  static constexpr std::uint32_t polls_per_look = 256;

  std::uint64_t limit_ns_;
  std::uint64_t begin_ns_ = 0;
  std::uint32_t polls_ = 0;
};

}  // namespace lanewise::bench::device
