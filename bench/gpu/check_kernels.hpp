// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Fills inputs and checks sums on the GPU: each rank can recompute every rank's input, so the
// float64 reference needs no exchange.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "data_type.hpp"

namespace lanewise::bench {

// random: uniform in [-1, 1). signs: cancels between neighbours. denormals: subnormal numbers of
// the type. mixed: magnitudes many powers of two apart. coded: names the rank and the position.
enum class Pattern : std::uint8_t { random, signs, denormals, mixed, coded };
inline constexpr int pattern_count = 5;

struct InputCode {
  Pattern pattern = Pattern::random;
  std::uint64_t seed = 0;
  int rank = 0;
};

// Accumulated by the checks; `first_wrong` is an element's index, or ~0.
struct CheckResult {
  unsigned long long wrong = 0;
  unsigned long long first_wrong = ~0ULL;
  unsigned long long checksum = 0;
  unsigned long long touched_guard_bytes = 0;
};

// The byte that guard bands hold, and the one that outputs are poisoned with: NaN in every type.
inline constexpr int guard_byte = 0xa5;
inline constexpr int poison_byte = 0xff;

struct Elements {
  void* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::bf16;
};

// All of these launch on `stream` and return without waiting; launch errors are returned.
[[nodiscard]] cudaError_t fill_input(const Elements& input, const InputCode& code,
                                     cudaStream_t stream);
// Compares with the float64 sum over ranks 0..ranks-1 of what fill_input wrote with code's pattern
// and seed; `result` is device memory.
[[nodiscard]] cudaError_t check_sums(const Elements& output, const InputCode& code, int ranks,
                                     CheckResult* result, cudaStream_t stream);
[[nodiscard]] cudaError_t check_guard(const void* guard, std::size_t bytes, CheckResult* result,
                                      cudaStream_t stream);

// What an engine computes between two all-reduces, as far as time goes: one block that spins for
// about `cycles` of the GPU's clock.
[[nodiscard]] cudaError_t spin(long long cycles, cudaStream_t stream);

}  // namespace lanewise::bench
