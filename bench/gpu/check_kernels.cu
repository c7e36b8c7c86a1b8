// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "check_kernels.hpp"

namespace lanewise::bench {
namespace {

constexpr int threads = 256;
constexpr std::uint64_t most_ranks = 4096;  // positions of two ranks never coincide
// Enough for any GPU; the loops are grid-strided.
constexpr std::size_t most_blocks = 1024;

// Exponents of the subnormal range and of the mixed pattern: what a type holds without overflow
// in a sum over 32 ranks.
template <class T>
struct Range;
template <>
struct Range<__nv_bfloat16> {
  static constexpr int smallest_normal = -126, low = -12, high = 12;
};
template <>
struct Range<__half> {
  static constexpr int smallest_normal = -14, low = -10, high = 8;
};
template <>
struct Range<float> {
  static constexpr int smallest_normal = -126, low = -12, high = 12;
};
template <>
struct Range<__nv_fp8_e4m3> {
  static constexpr int smallest_normal = -6, low = -4, high = 3;
};

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
__host__ __device__ std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27U)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31U);
}

// In [0, 1): the upper 24 bits.
__device__ float fraction(std::uint64_t word) { return static_cast<float>(word >> 40U) * 0x1p-24F; }

template <class T>
__device__ T input_value(Pattern pattern, std::uint64_t seed, int rank, std::size_t index) {
  const std::uint64_t position = index * most_ranks + static_cast<std::uint64_t>(rank);
  const std::uint64_t word = mix(seed + mix(position + 0x9e3779b97f4a7c15ULL));
  const float uniform = 2.0F * fraction(word) - 1.0F;
  const bool is_odd = ((index + static_cast<std::size_t>(rank)) & 1U) != 0;
  switch (pattern) {
    case Pattern::signs:
      return T((is_odd ? -0.5F : 0.5F) * (1.0F + fraction(word)));
    case Pattern::denormals:
      return T(ldexpf(uniform, Range<T>::smallest_normal));
    case Pattern::mixed: {
      constexpr int span = Range<T>::high - Range<T>::low + 1;
      return T(ldexpf(uniform, Range<T>::low + static_cast<int>(word % span)));
    }
    case Pattern::coded:
      return T(static_cast<float>((rank % 4 + 1) * static_cast<int>(index % 3 + 1)));
    case Pattern::random:
    default:
      return T(uniform);
  }
}

template <class T>
__global__ void fill_kernel(T* data, std::size_t count, InputCode code) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    data[i] = input_value<T>(code.pattern, code.seed, code.rank, i);
  }
}

template <class T>
__device__ std::uint64_t bits_of(const T* element) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(element);
  std::uint64_t word = 0;
  for (std::size_t byte = 0; byte < sizeof(T); ++byte) word = word << 8U | bytes[byte];
  return word;
}

template <class T>
__global__ void check_kernel(const T* data, std::size_t count, InputCode code, int ranks,
                             ErrorBound bound, CheckResult* result) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    double exact = 0;
    double magnitude = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto x =
          static_cast<double>(static_cast<float>(input_value<T>(code.pattern, code.seed, rank, i)));
      exact += x;
      magnitude += fabs(x);
    }
    const double error = fabs(static_cast<double>(static_cast<float>(data[i])) - exact);
    // Written so that NaN is wrong.
    if (!(error <= bound.relative * magnitude + bound.absolute)) {
      atomicAdd(&result->wrong, 1ULL);
      atomicMin(&result->first_wrong, static_cast<unsigned long long>(i));
    }
    atomicAdd(&result->checksum,
              static_cast<unsigned long long>(mix(bits_of(data + i) + mix(i + 1))));
  }
}

__global__ void guard_kernel(const unsigned char* guard, std::size_t bytes, CheckResult* result) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += stride) {
    if (guard[i] != guard_byte) atomicAdd(&result->touched_guard_bytes, 1ULL);
  }
}

__global__ void spin_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

unsigned blocks_for(std::size_t count) {
  const std::size_t needed = (count + threads - 1) / threads;
  return static_cast<unsigned>(needed < most_blocks ? (needed > 0 ? needed : 1) : most_blocks);
}

// Calls `launch` with a null pointer of the element's C++ type.
template <class Launch>
cudaError_t for_type(DataType type, Launch launch) {
  switch (type) {
    case DataType::bf16:
      launch(static_cast<__nv_bfloat16*>(nullptr));
      break;
    case DataType::fp16:
      launch(static_cast<__half*>(nullptr));
      break;
    case DataType::fp32:
      launch(static_cast<float*>(nullptr));
      break;
    case DataType::fp8:
      launch(static_cast<__nv_fp8_e4m3*>(nullptr));
      break;
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t fill_input(const Elements& input, const InputCode& code, cudaStream_t stream) {
  return for_type(input.type, [&]<class T>(T*) {
    fill_kernel<<<blocks_for(input.count), threads, 0, stream>>>(static_cast<T*>(input.data),
                                                                 input.count, code);
  });
}

cudaError_t check_sums(const Elements& output, const InputCode& code, int ranks,
                       CheckResult* result, cudaStream_t stream) {
  const ErrorBound bound = error_bound(output.type, ranks);
  return for_type(output.type, [&]<class T>(T*) {
    check_kernel<<<blocks_for(output.count), threads, 0, stream>>>(
        static_cast<const T*>(output.data), output.count, code, ranks, bound, result);
  });
}

cudaError_t check_guard(const void* guard, std::size_t bytes, CheckResult* result,
                        cudaStream_t stream) {
  guard_kernel<<<blocks_for(bytes), threads, 0, stream>>>(static_cast<const unsigned char*>(guard),
                                                          bytes, result);
  return cudaGetLastError();
}

cudaError_t spin(long long cycles, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(cycles);
  return cudaGetLastError();
}

}  // namespace lanewise::bench
