// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What all_reduce.hpp and the bench's links need of a GPU: its place in the grid, loads and stores
// that other GPUs and the host see, in PTX's memory model, and the element types. Found by its
// folder: tests have another.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace lanewise::direct::device {

// 16 bytes as two words: each word is read and written in one piece, the pair need not be.
struct alignas(16) Pair {
  std::uint64_t low;
  std::uint64_t high;
};

// Polls of a wait for one look at the abort word, which may cross the link, or at the clock.
inline constexpr std::uint32_t polls_per_look = 256;

__device__ __forceinline__ unsigned thread() { return threadIdx.x; }
__device__ __forceinline__ unsigned threads() { return blockDim.x; }
__device__ __forceinline__ unsigned block() { return blockIdx.x; }
__device__ __forceinline__ unsigned blocks() { return gridDim.x; }
__device__ __forceinline__ void sync_threads() { __syncthreads(); }
__device__ __forceinline__ bool any_of_block(bool claim) {
  return __syncthreads_or(claim ? 1 : 0) != 0;
}
__device__ __forceinline__ void fence() { __threadfence(); }
__device__ __forceinline__ void pause() {}
__device__ __forceinline__ unsigned add_one(unsigned* counter) { return atomicAdd(counter, 1U); }

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

__device__ __forceinline__ void store_relaxed_u32(unsigned* address, unsigned value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
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

__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(__half value) { return __half2float(value); }
__device__ __forceinline__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ __forceinline__ void from_float(float value, float& out) { out = value; }
__device__ __forceinline__ void from_float(float value, __half& out) {
  out = __float2half_rn(value);
}
__device__ __forceinline__ void from_float(float value, __nv_bfloat16& out) {
  out = __float2bfloat16_rn(value);
}

}  // namespace lanewise::direct::device
