// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "gpu/cuda_check.hpp"
#include "link_kernels.hpp"
#include "link_pattern.cuh"

namespace lanewise::bench {
namespace {

using device::as_pairs;
using device::is_equal;
using device::pattern;

// For a flag without payload nothing is ordered.
__device__ bool wait_for_flag(const PingPong& end, std::uint64_t round) {
  if (end.payload != nullptr) return device::wait_for(end.incoming, round, end.timeout_ns);
  device::Patience patience(end.timeout_ns);
  while (device::load_relaxed(end.incoming) < round) {
    if (!patience.lasts()) return false;
  }
  return true;
}

__global__ void ping_kernel(const PingPong end, PingOutcome* outcome) {
  __shared__ bool is_stalled;
  const unsigned thread = threadIdx.x;
  const std::uint64_t last = end.warmup + end.rounds;
  std::uint64_t begin = device::now_ns();
  std::uint64_t round = 1;
  for (; round <= last; ++round) {
    if (thread == 0 && round == end.warmup + 1) begin = device::now_ns();
    if (end.payload != nullptr) {
      if (thread < end.vectors) {
        device::store_pair(as_pairs(end.payload) + thread, pattern(round, thread));
      }
      __syncthreads();
    }
    if (thread == 0) {
      if (end.payload != nullptr) {
        device::store_release(end.outgoing, round);
      } else {
        device::store_relaxed(end.outgoing, round);
      }
      is_stalled = !wait_for_flag(end, round);
    }
    __syncthreads();
    if (is_stalled) break;
    // The next round's first thread must not write is_stalled before all have read it.
    __syncthreads();
  }
  if (thread == 0) *outcome = {device::now_ns() - begin, round - 1, 0};
}

// The thread reads another one's vector, so that it comes from memory.
__device__ std::uint64_t count_wrong(const PingPong& end, std::uint64_t round) {
  if (threadIdx.x >= end.vectors) return 0;
  const std::uint64_t index = (threadIdx.x + 1) % end.vectors;
  const Vector* own = end.keep != nullptr ? end.keep : end.payload;
  return is_equal(device::load_pair(as_pairs(own) + index), pattern(round, index)) ? 0 : 1;
}

__global__ void pong_kernel(const PingPong end, PingOutcome* outcome) {
  __shared__ bool is_stalled;
  __shared__ unsigned long long wrong;
  const unsigned thread = threadIdx.x;
  if (thread == 0) wrong = 0;
  __syncthreads();
  const std::uint64_t last = end.warmup + end.rounds;
  std::uint64_t round = 1;
  for (; round <= last; ++round) {
    if (thread == 0) is_stalled = !wait_for_flag(end, round);
    __syncthreads();
    if (is_stalled) break;
    if (end.keep != nullptr && thread < end.vectors) {
      device::store_pair(as_pairs(end.keep) + thread,
                         device::load_pair(as_pairs(end.payload) + thread));
    }
    __syncthreads();
    if (end.check == PayloadCheck::on) {
      const std::uint64_t found = count_wrong(end, round);
      if (found != 0) atomicAdd(&wrong, found);
      __syncthreads();
    }
    if (thread == 0) {
      if (end.check == PayloadCheck::on) {
        device::store_release(end.outgoing, round);
      } else {
        device::store_relaxed(end.outgoing, round);
      }
    }
  }
  __syncthreads();
  if (thread == 0) *outcome = {0, round - 1, wrong};
}

unsigned threads_of(const PingPong& end) { return end.payload == nullptr ? 32 : ping_threads; }

}  // namespace

void launch_ping(const PingPong& end, PingOutcome* outcome, cudaStream_t stream) {
  ping_kernel<<<1, threads_of(end), 0, stream>>>(end, outcome);
  check_cuda(cudaGetLastError(), "launch of the ping kernel");
}

void launch_pong(const PingPong& end, PingOutcome* outcome, cudaStream_t stream) {
  pong_kernel<<<1, threads_of(end), 0, stream>>>(end, outcome);
  check_cuda(cudaGetLastError(), "launch of the pong kernel");
}

void preload_ping_kernels() {
  for (const auto kernel : {ping_kernel, pong_kernel}) {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  }
}

}  // namespace lanewise::bench
