// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "gpu/cuda_check.hpp"
#include "link_kernels.hpp"
#include "link_pattern.cuh"

namespace lanewise::bench {
namespace {

using device::as_pairs;
using device::is_equal;
using device::Pair;
using device::pattern;

constexpr unsigned flow_threads = 512;
constexpr unsigned pattern_blocks = 128;
// A word of `produced` with this bit: the last slot has been written.
constexpr std::uint64_t finished_bit = 1ULL << 63;

struct Slice {
  std::uint64_t begin;
  std::uint64_t end;
};

__device__ Slice slice_of(const FlowEnd& end) {
  return {end.vectors * blockIdx.x / end.blocks, end.vectors * (blockIdx.x + 1) / end.blocks};
}

// Four vectors a thread in flight: one alone leaves a link idle.
template <typename Load, typename Store>
__device__ void copy(std::uint64_t count, const Load& load, const Store& store) {
  constexpr unsigned depth = 4;
  for (std::uint64_t base = threadIdx.x; base < count; base += depth * flow_threads) {
    Pair values[depth];
#pragma unroll
    for (unsigned i = 0; i < depth; ++i) {
      if (base + i * flow_threads < count) values[i] = load(base + i * flow_threads);
    }
#pragma unroll
    for (unsigned i = 0; i < depth; ++i) {
      if (base + i * flow_threads < count) store(base + i * flow_threads, values[i]);
    }
  }
}

__global__ void __launch_bounds__(flow_threads)
    push_kernel(const FlowEnd end, FlowOutcome* outcomes) {
  __shared__ bool is_over;
  const Slice slice = slice_of(end);
  const std::uint64_t count = slice.end - slice.begin;
  const Pair* source = as_pairs(end.source) + slice.begin;
  Pair* destination = as_pairs(end.destination) + slice.begin;
  const std::uint64_t begin = device::now_ns();
  std::uint64_t passes = 0;
  do {
    copy(
        count, [&](std::uint64_t i) { return source[i]; },
        [&](std::uint64_t i, const Pair& value) { destination[i] = value; });
    ++passes;
    __syncthreads();
    if (threadIdx.x == 0) is_over = device::now_ns() - begin >= end.duration_ns;
    __syncthreads();
  } while (!is_over);
  // The bytes count once they have arrived.
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) {
    outcomes[blockIdx.x] = {passes * count * sizeof(Pair), begin, device::now_ns(), 0};
  }
}

__device__ std::uint64_t slot_length(const Slice& slice, std::uint64_t position) {
  const std::uint64_t left = slice.end - position;
  return left < slot_vectors ? left : slot_vectors;
}

__device__ Pair* slot_of(const FlowEnd& end, std::uint64_t sequence) {
  const std::uint64_t slot = blockIdx.x * ring_slots + sequence % ring_slots;
  return as_pairs(end.ring) + slot * slot_vectors;
}

enum class Verdict : unsigned { go_on, finished, stalled };

__global__ void __launch_bounds__(flow_threads)
    produce_kernel(const FlowEnd end, FlowOutcome* outcomes) {
  __shared__ Verdict verdict;
  const Slice slice = slice_of(end);
  std::uint64_t* produced = end.produced + blockIdx.x * flag_stride;
  const std::uint64_t* consumed = end.consumed + blockIdx.x * flag_stride;
  const std::uint64_t begin = device::now_ns();
  std::uint64_t position = slice.begin;
  std::uint64_t sequence = 0;
  for (bool is_first_pass = true;;) {
    if (threadIdx.x == 0) {
      const bool is_over = !is_first_pass && device::now_ns() - begin >= end.duration_ns;
      const bool has_slot = sequence < ring_slots ||
                            device::wait_for(consumed, sequence - ring_slots + 1, end.timeout_ns);
      verdict = !has_slot ? Verdict::stalled : (is_over ? Verdict::finished : Verdict::go_on);
    }
    __syncthreads();
    if (verdict != Verdict::go_on) break;
    const std::uint64_t count = slot_length(slice, position);
    const Pair* source = as_pairs(end.source) + position;
    Pair* slot = slot_of(end, sequence);
    copy(
        count, [&](std::uint64_t i) { return source[i]; },
        [&](std::uint64_t i, const Pair& value) { device::store_pair(slot + i, value); });
    __syncthreads();
    ++sequence;
    if (threadIdx.x == 0) device::store_release(produced, sequence);
    position += count;
    if (position == slice.end) {
      position = slice.begin;
      is_first_pass = false;
    }
  }
  if (threadIdx.x == 0) {
    device::store_release(produced, sequence | finished_bit);
    outcomes[blockIdx.x] = {0, begin, device::now_ns(), verdict == Verdict::stalled ? 1ULL : 0ULL};
  }
}

// go_on where slot `sequence` has been written.
__device__ Verdict wait_for_slot(const std::uint64_t* produced, std::uint64_t sequence,
                                 std::uint64_t limit_ns) {
  device::Patience patience(limit_ns);
  for (;;) {
    const std::uint64_t value = device::load_acquire(produced);
    if ((value & ~finished_bit) > sequence) return Verdict::go_on;
    if ((value & finished_bit) != 0) return Verdict::finished;
    if (!patience.lasts()) return Verdict::stalled;
  }
}

__global__ void __launch_bounds__(flow_threads)
    consume_kernel(const FlowEnd end, FlowOutcome* outcomes) {
  __shared__ Verdict verdict;
  const Slice slice = slice_of(end);
  const std::uint64_t* produced = end.produced + blockIdx.x * flag_stride;
  std::uint64_t* consumed = end.consumed + blockIdx.x * flag_stride;
  std::uint64_t begin = 0;
  std::uint64_t position = slice.begin;
  std::uint64_t vectors = 0;
  for (std::uint64_t sequence = 0;; ++sequence) {
    if (threadIdx.x == 0) verdict = wait_for_slot(produced, sequence, end.timeout_ns);
    __syncthreads();
    if (verdict != Verdict::go_on) break;
    if (sequence == 0) begin = device::now_ns();
    const std::uint64_t count = slot_length(slice, position);
    const Pair* slot = slot_of(end, sequence);
    Pair* destination = as_pairs(end.destination) + position;
    copy(
        count, [&](std::uint64_t i) { return device::load_pair(slot + i); },
        [&](std::uint64_t i, const Pair& value) { destination[i] = value; });
    __syncthreads();
    if (threadIdx.x == 0) device::store_release(consumed, sequence + 1);
    vectors += count;
    position += count;
    if (position == slice.end) position = slice.begin;
  }
  if (threadIdx.x == 0) {
    outcomes[blockIdx.x] = {vectors * sizeof(Pair), begin, device::now_ns(),
                            verdict == Verdict::stalled ? 1ULL : 0ULL};
  }
}

__global__ void fill_kernel(Vector* memory, std::uint64_t vectors, std::uint64_t seed) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += stride) {
    as_pairs(memory)[i] = pattern(seed, i);
  }
}

__global__ void compare_kernel(const Vector* memory, std::uint64_t vectors, std::uint64_t seed,
                               Mismatches* mismatches) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += stride) {
    if (is_equal(device::load_pair(as_pairs(memory) + i), pattern(seed, i))) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(&mismatches->count), 1ULL);
    mismatches->last_index = i;
  }
}

}  // namespace

void launch_push(const FlowEnd& end, FlowOutcome* outcomes, cudaStream_t stream) {
  push_kernel<<<end.blocks, flow_threads, 0, stream>>>(end, outcomes);
  check_cuda(cudaGetLastError(), "launch of the push kernel");
}

void launch_produce(const FlowEnd& end, FlowOutcome* outcomes, cudaStream_t stream) {
  produce_kernel<<<end.blocks, flow_threads, 0, stream>>>(end, outcomes);
  check_cuda(cudaGetLastError(), "launch of the produce kernel");
}

void launch_consume(const FlowEnd& end, FlowOutcome* outcomes, cudaStream_t stream) {
  consume_kernel<<<end.blocks, flow_threads, 0, stream>>>(end, outcomes);
  check_cuda(cudaGetLastError(), "launch of the consume kernel");
}

void launch_fill(Vector* memory, std::uint64_t vectors, std::uint64_t seed, cudaStream_t stream) {
  fill_kernel<<<pattern_blocks, flow_threads, 0, stream>>>(memory, vectors, seed);
  check_cuda(cudaGetLastError(), "launch of the fill kernel");
}

void launch_compare(const Vector* memory, std::uint64_t vectors, std::uint64_t seed,
                    Mismatches* mismatches, cudaStream_t stream) {
  compare_kernel<<<pattern_blocks, flow_threads, 0, stream>>>(memory, vectors, seed, mismatches);
  check_cuda(cudaGetLastError(), "launch of the compare kernel");
}

void preload_flow_kernels() {
  cudaFuncAttributes attributes{};
  for (const auto kernel : {push_kernel, produce_kernel, consume_kernel}) {
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  }
  check_cuda(cudaFuncGetAttributes(&attributes, fill_kernel), "cudaFuncGetAttributes");
  check_cuda(cudaFuncGetAttributes(&attributes, compare_kernel), "cudaFuncGetAttributes");
}

}  // namespace lanewise::bench
