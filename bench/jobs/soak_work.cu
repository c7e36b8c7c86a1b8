// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "gpu/cuda_check.hpp"
#include "soak_work.hpp"

namespace lanewise::bench {
namespace {

using direct::Element;
using direct::Form;
using direct::Group;
using direct::Taken;

constexpr unsigned char poison = 0xa5;
constexpr int kernel_threads = 256;

__device__ float value_of(std::uint64_t seed, int rank, std::uint64_t index) {
  std::uint64_t bits = seed * 0x9e3779b97f4a7c15ULL + index * 0xbf58476d1ce4e5b9ULL +
                       static_cast<std::uint64_t>(rank) * 0x94d049bb133111ebULL;
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9ULL;
  bits ^= bits >> 32;
  const float unit = static_cast<float>(static_cast<int>(bits & 0xffff) - 0x8000) / 4096;
  return (bits >> 16 & 1) != 0 ? unit : unit / 512;
}

__device__ float rounded(float value, Element element) {
  if (element == Element::fp16) return __half2float(__float2half_rn(value));
  if (element == Element::bf16) return __bfloat162float(__float2bfloat16_rn(value));
  return value;
}
__device__ void store(std::byte* data, std::uint64_t index, Element element, float value) {
  if (element == Element::fp32) reinterpret_cast<float*>(data)[index] = value;
  if (element == Element::fp16) reinterpret_cast<__half*>(data)[index] = __float2half_rn(value);
  if (element == Element::bf16)
    reinterpret_cast<__nv_bfloat16*>(data)[index] = __float2bfloat16_rn(value);
}
__device__ float load(const std::byte* data, std::uint64_t index, Element element) {
  if (element == Element::fp32) return reinterpret_cast<const float*>(data)[index];
  if (element == Element::fp16) return __half2float(reinterpret_cast<const __half*>(data)[index]);
  return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(data)[index]);
}

__global__ void fill(const Task* tasks, std::byte* data, int rank, std::uint64_t salt) {
  const Task task = tasks[blockIdx.x];
  for (std::uint64_t i = threadIdx.x; i < task.count; i += blockDim.x)
    store(data + task.in, i, task.element, value_of(task.seed + salt, rank, i));
}

// Against float64 within the last bit, against the floats in rank order exactly, and the gap after.
__global__ void check(const Task* tasks, const std::byte* data, int ranks, std::uint64_t salt,
                      unsigned long long* wrong) {
  const Task task = tasks[blockIdx.x];
  const std::uint64_t size = task.element == Element::fp32 ? 4 : 2;
  unsigned long long bad = 0;
  for (std::uint64_t i = threadIdx.x; i < task.count; i += blockDim.x) {
    float sum = 0;
    double exact = 0;
    double magnitude = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const float one = rounded(value_of(task.seed + salt, rank, i), task.element);
      sum += one;
      exact += one;
      magnitude += fabs(one);
    }
    const float found = load(data + task.out, i, task.element);
    const double unit = task.element == Element::fp32   ? 0x1p-23
                        : task.element == Element::fp16 ? 0x1p-11
                                                        : 0x1p-8;
    if (found != rounded(sum, task.element)) ++bad;
    if (fabs(found - exact) > (unit + 0x1p-24 * ranks) * magnitude + 0x1p-24 * ranks) ++bad;
  }
  for (std::uint64_t i = threadIdx.x; i < gap_bytes; i += blockDim.x)
    bad += data[task.out + task.count * size + i] != std::byte{poison} ? 1 : 0;
  if (bad != 0) atomicAdd(wrong, bad);
}

}  // namespace

std::vector<Task> make_tasks(std::mt19937_64& random, int count, int group, std::size_t max_bytes) {
  std::vector<Task> tasks;
  std::uint64_t at = gap_bytes;
  for (int i = 0; i < count; ++i) {
    Task task{};
    task.element = static_cast<Element>(random() % direct::element_count);
    const std::uint64_t size = direct::size_of(task.element);
    // Small ones as often as large ones.
    const std::uint64_t limit = std::max<std::uint64_t>(max_bytes >> random() % 16, 64);
    task.count = 1 + random() % (limit / size);
    task.seed = random();
    task.group = group >= 0 ? group : static_cast<int>(random() % 2);
    task.form = static_cast<int>(random() % (direct::form_count + 1)) - 1;
    const std::uint64_t bytes = task.count * size;
    const auto place = [&] {
      at = (at + 15) / 16 * 16 + size * (random() % 3 == 0 ? random() % 8 : 0);
      const std::uint64_t result = at;
      at += bytes + gap_bytes;
      return result;
    };
    task.in = place();
    task.out = random() % 4 == 0 ? task.in : place();
    tasks.push_back(task);
  }
  return tasks;
}

Work::Work(int count, std::size_t max_bytes)
    : bytes_(static_cast<std::size_t>(count) * 2 * (max_bytes + 4 * gap_bytes) + gap_bytes) {
  check_cuda(cudaMalloc(&data_, bytes_), "cudaMalloc");
  check_cuda(cudaMalloc(&tasks_, sizeof(Task) * static_cast<std::size_t>(count)), "cudaMalloc");
}

void Work::load(std::vector<Task> tasks, cudaStream_t stream) {
  list = std::move(tasks);
  check_cuda(cudaMemcpyAsync(tasks_, list.data(), sizeof(Task) * list.size(),
                             cudaMemcpyHostToDevice, stream),
             "cudaMemcpyAsync");
}

void Work::prepare(int rank, std::uint64_t salt, cudaStream_t stream) const {
  check_cuda(cudaMemsetAsync(data_, poison, bytes_, stream), "cudaMemsetAsync");
  fill<<<static_cast<unsigned>(list.size()), kernel_threads, 0, stream>>>(tasks_, data_, rank,
                                                                          salt);
  check_cuda(cudaGetLastError(), "fill");
}

void Work::verify(int ranks, std::uint64_t salt, unsigned long long* wrong,
                  cudaStream_t stream) const {
  check<<<static_cast<unsigned>(list.size()), kernel_threads, 0, stream>>>(tasks_, data_, ranks,
                                                                           salt, wrong);
  check_cuda(cudaGetLastError(), "check");
}

void Work::make(const Task& task, Group& group, cudaStream_t stream) const {
  const auto form = task.form < 0 ? std::nullopt : std::optional(static_cast<Form>(task.form));
  if (group.launch(stream, data_ + task.in, data_ + task.out, task.count, task.element, form) !=
      Taken::done)
    throw Error("a call was not taken: " + group.failure());
}

}  // namespace lanewise::bench
