// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>
#include <string>

#include "core/error.hpp"
#include "direct/cuda_check.hpp"
#include "direct/one_shot_kernels.hpp"
#include "direct/system_memory.cuh"

namespace lanewise::bench {
namespace {

using device::Pair;

constexpr unsigned flag_bytes = 128;
// Peers whose data is asked for before the first answer is looked at.
constexpr int peers_in_flight = 8;

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ void from_float(float value, float& out) { out = value; }
__device__ void from_float(float value, __half& out) { out = __float2half_rn(value); }
__device__ void from_float(float value, __nv_bfloat16& out) { out = __float2bfloat16_rn(value); }

// The elements of one word or vector, summed in float in the order of ranks: the same bits on all.
template <typename T, typename Word>
struct Sum {
  static constexpr unsigned size = sizeof(Word) / sizeof(T);
  float values[size] = {};

  __device__ __forceinline__ void add(const Word& word) {
    T elements[size];
    memcpy(elements, &word, sizeof(word));
#pragma unroll
    for (unsigned i = 0; i < size; ++i) values[i] += to_float(elements[i]);
  }

  __device__ __forceinline__ void store(T* out, std::uint64_t index, std::uint64_t count) const {
    T elements[size];
#pragma unroll
    for (unsigned i = 0; i < size; ++i) from_float(values[i], elements[i]);
    if ((index + 1) * size <= count) {
      Word word;
      memcpy(&word, elements, sizeof(word));
      reinterpret_cast<Word*>(out)[index] = word;
      return;
    }
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      if (index * size + i < count) out[index * size + i] = elements[i];
    }
  }
};

// Word `index` of the input, with zeros after its end.
template <typename T, typename Word>
__device__ __forceinline__ Word load_word(const T* in, std::uint64_t index, std::uint64_t count) {
  constexpr unsigned size = sizeof(Word) / sizeof(T);
  if ((index + 1) * size <= count) return reinterpret_cast<const Word*>(in)[index];
  T elements[size] = {};
#pragma unroll
  for (unsigned i = 0; i < size; ++i) {
    if (index * size + i < count) elements[i] = in[index * size + i];
  }
  Word word;
  memcpy(&word, elements, sizeof(word));
  return word;
}

// Calls alternate between two halves. A sender reaches the half of call e again in call e + 2,
// after its call e + 1, for which it waited for everyone's data; whoever sent that had finished
// call e. So nobody still reads what is overwritten, whatever protocol each call uses.
struct Call {
  std::uint64_t epoch;
  std::uint64_t half;  // offset

  __device__ explicit Call(const OneShotPlan& plan)
      : epoch(device::load_relaxed(plan.epoch) + 1), half((epoch & 1) * plan.half_bytes) {}
};

// The last block to end counts the call; until then every block has read the old count.
__device__ __forceinline__ void finish(const OneShotPlan& plan, const Call& call) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(plan.ticket, 1U) != gridDim.x - 1) return;
  *plan.ticket = 0;
  device::store_relaxed(plan.epoch, call.epoch);
}

// A line of LL: 32 bits of payload and the flag, twice. Each half is read in one piece.
__device__ Pair to_line(std::uint64_t word, std::uint64_t flag) {
  return {(word & 0xffffffffULL) | flag << 32, word >> 32 | flag << 32};
}
__device__ bool has_arrived(const Pair& line, std::uint64_t flag) {
  return line.low >> 32 == flag && line.high >> 32 == flag;
}
__device__ std::uint64_t payload_of(const Pair& line) {
  return (line.low & 0xffffffffULL) | line.high << 32;
}

// Waits for the line of `rank`. False where the wait is over; `lost` then names the rank.
__device__ __forceinline__ bool await_line(const OneShotPlan& plan, int rank, const Pair* address,
                                           std::uint64_t flag, Pair& line) {
  device::Patience patience(plan.timeout_ns);
  while (!has_arrived(line, flag)) {
    if (!patience.lasts()) {
      device::store_relaxed(plan.lost, static_cast<std::uint64_t>(rank) + 1);
      return false;
    }
    line = device::load_pair(address);
  }
  return true;
}

template <typename T>
__device__ __forceinline__ bool sum_line(const OneShotPlan& plan, const Call& call,
                                         std::uint64_t flag, std::uint64_t index, std::uint64_t own,
                                         Sum<T, std::uint64_t>& sum) {
  const auto address = [&](int rank) {
    return reinterpret_cast<const Pair*>(plan.read_from[rank] + call.half) + index;
  };
  for (int first = 0; first < plan.ranks; first += peers_in_flight) {
    Pair lines[peers_in_flight];
#pragma unroll
    for (int i = 0; i < peers_in_flight; ++i) {
      const int rank = first + i;
      if (rank < plan.ranks && rank != plan.rank) lines[i] = device::load_pair(address(rank));
    }
#pragma unroll
    for (int i = 0; i < peers_in_flight; ++i) {
      const int rank = first + i;
      if (rank >= plan.ranks) continue;
      if (rank == plan.rank) {
        sum.add(own);
        continue;
      }
      if (!await_line(plan, rank, address(rank), flag, lines[i])) return false;
      sum.add(payload_of(lines[i]));
    }
  }
  return true;
}

template <typename T>
__global__ void __launch_bounds__(one_shot_threads)
    ll_kernel(const __grid_constant__ OneShotPlan plan, const T* in, T* out, std::uint64_t count) {
  using Word = std::uint64_t;
  const Call call(plan);
  // Never zero, which fresh memory holds.
  const std::uint64_t flag = (call.epoch & 0x7fffffffULL) | 0x80000000ULL;
  const std::uint64_t lines = (count * sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
  const std::uint64_t begin = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = begin; i < lines; i += stride) {
    const Pair line = to_line(load_word<T, Word>(in, i, count), flag);
    for (int w = 0; w < plan.writes; ++w) {
      device::store_pair(reinterpret_cast<Pair*>(plan.write_to[w] + call.half) + i, line);
    }
  }
  for (std::uint64_t i = begin; i < lines; i += stride) {
    Sum<T, Word> sum;
    if (!sum_line(plan, call, flag, i, load_word<T, Word>(in, i, count), sum)) break;
    sum.store(out, i, count);
  }
  finish(plan, call);
}

__device__ std::uint64_t flag_offset(const OneShotPlan& plan, const Call& call) {
  return call.half + plan.flags_offset + blockIdx.x * flag_bytes;
}

// One thread a peer waits for that peer's flag of this block. False in every thread where one of
// them has not come.
__device__ __forceinline__ bool await_block(const OneShotPlan& plan, const Call& call) {
  __shared__ bool is_lost;
  if (threadIdx.x == 0) is_lost = false;
  __syncthreads();
  const int rank = static_cast<int>(threadIdx.x);
  if (rank < plan.ranks && rank != plan.rank) {
    const auto* flag =
        reinterpret_cast<const std::uint64_t*>(plan.read_from[rank] + flag_offset(plan, call));
    device::Patience patience(plan.timeout_ns);
    while (device::load_acquire(flag) != call.epoch) {
      if (patience.lasts()) continue;
      device::store_relaxed(plan.lost, static_cast<std::uint64_t>(rank) + 1);
      is_lost = true;
      break;
    }
  }
  __syncthreads();
  return !is_lost;
}

template <typename T>
__device__ __forceinline__ Sum<T, Pair> sum_vector(const OneShotPlan& plan, std::uint64_t offset,
                                                   std::uint64_t index, const Pair& own) {
  Sum<T, Pair> sum;
  for (int first = 0; first < plan.ranks; first += peers_in_flight) {
    Pair vectors[peers_in_flight];
#pragma unroll
    for (int i = 0; i < peers_in_flight; ++i) {
      const int rank = first + i;
      if (rank >= plan.ranks) continue;
      vectors[i] = rank == plan.rank
                       ? own
                       : device::load_pair(
                             reinterpret_cast<const Pair*>(plan.read_from[rank] + offset) + index);
    }
#pragma unroll
    for (int i = 0; i < peers_in_flight; ++i) {
      if (first + i < plan.ranks) sum.add(vectors[i]);
    }
  }
  return sum;
}

template <typename T>
__global__ void __launch_bounds__(one_shot_threads)
    simple_kernel(const __grid_constant__ OneShotPlan plan, const T* in, T* out,
                  std::uint64_t count) {
  const Call call(plan);
  const std::uint64_t vectors = (count * sizeof(T) + sizeof(Pair) - 1) / sizeof(Pair);
  const std::uint64_t begin = vectors * blockIdx.x / gridDim.x;
  const std::uint64_t end = vectors * (blockIdx.x + 1) / gridDim.x;
  const std::uint64_t data = call.half + plan.data_offset;
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const Pair vector = load_word<T, Pair>(in, i, count);
    for (int w = 0; w < plan.writes; ++w) {
      device::store_pair(reinterpret_cast<Pair*>(plan.write_to[w] + data) + i, vector);
    }
  }
  __syncthreads();
  if (threadIdx.x < static_cast<unsigned>(plan.writes)) {
    device::store_release(
        reinterpret_cast<std::uint64_t*>(plan.write_to[threadIdx.x] + flag_offset(plan, call)),
        call.epoch);
  }
  if (await_block(plan, call)) {
    for (std::uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      sum_vector<T>(plan, data, i, load_word<T, Pair>(in, i, count)).store(out, i, count);
    }
  }
  finish(plan, call);
}

template <typename T>
void launch(const OneShotPlan& plan, OneShotProtocol protocol, int blocks, const void* in,
            void* out, std::size_t count, cudaStream_t stream) {
  const auto kernel = protocol == OneShotProtocol::ll ? ll_kernel<T> : simple_kernel<T>;
  kernel<<<static_cast<unsigned>(blocks), one_shot_threads, 0, stream>>>(
      plan, static_cast<const T*>(in), static_cast<T*>(out), count);
  check_cuda(cudaGetLastError(), "launch of the one-shot all-reduce");
}

template <typename T>
void preload() {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, ll_kernel<T>), "cudaFuncGetAttributes");
  check_cuda(cudaFuncGetAttributes(&attributes, simple_kernel<T>), "cudaFuncGetAttributes");
}

}  // namespace

void launch_one_shot(const OneShotPlan& plan, OneShotProtocol protocol, int blocks, const void* in,
                     void* out, std::size_t count, DataType type, cudaStream_t stream) {
  switch (type) {
    case DataType::fp32:
      return launch<float>(plan, protocol, blocks, in, out, count, stream);
    case DataType::fp16:
      return launch<__half>(plan, protocol, blocks, in, out, count, stream);
    case DataType::bf16:
      return launch<__nv_bfloat16>(plan, protocol, blocks, in, out, count, stream);
    default:
      throw Error("the one-shot all-reduce has no kernel for " + std::string(name_of(type)));
  }
}

void preload_one_shot_kernels() {
  preload<float>();
  preload<__half>();
  preload<__nv_bfloat16>();
}

}  // namespace lanewise::bench
