// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <CLI/CLI.hpp>
#include <cstring>

#include "commands/commands.hpp"
#include "fake_stream.hpp"
#include "gpu/check_kernels.hpp"

namespace lanewise::bench {
namespace {

// Small whole numbers: sums of 8 are exact in bf16, so that "wrong" is "not equal".
float input_value(const InputCode& code, std::size_t index, int rank) {
  const auto word = index * 31 + static_cast<std::size_t>(rank) * 7 + code.seed;
  return static_cast<float>(word % 7) - 3.0F;
}

std::uint16_t bf16_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>(bits >> 16U);
}

}  // namespace

cudaError_t fill_input(const Elements& input, const InputCode& code, cudaStream_t stream) {
  if (input.type != DataType::bf16) return cudaErrorNotSupported;
  lanewise_fake_queue(stream, [=](cudaStream_t) {
    auto* data = static_cast<std::uint16_t*>(input.data);
    for (std::size_t i = 0; i < input.count; ++i)
      data[i] = bf16_of(input_value(code, i, code.rank));
  });
  return cudaSuccess;
}

cudaError_t check_sums(const Elements& output, const InputCode& code, int ranks,
                       CheckResult* result, cudaStream_t stream) {
  lanewise_fake_queue(stream, [=](cudaStream_t) {
    const auto* data = static_cast<const std::uint16_t*>(output.data);
    for (std::size_t i = 0; i < output.count; ++i) {
      float sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum += input_value(code, i, rank);
      result->checksum += data[i] * (i + 1);
      if (data[i] == bf16_of(sum)) continue;
      if (result->wrong++ == 0) result->first_wrong = i;
    }
  });
  return cudaSuccess;
}

cudaError_t check_guard(const void* guard, std::size_t bytes, CheckResult* result,
                        cudaStream_t stream) {
  lanewise_fake_queue(stream, [=](cudaStream_t) {
    const auto* data = static_cast<const unsigned char*>(guard);
    for (std::size_t i = 0; i < bytes; ++i) result->touched_guard_bytes += data[i] != guard_byte;
  });
  return cudaSuccess;
}

cudaError_t spin(long long cycles, cudaStream_t stream) {
  // At the fake's clock of 1 GHz.
  lanewise_fake_queue(stream, [=](cudaStream_t here) {
    lanewise_fake_advance(here, static_cast<double>(cycles) / 1000);
  });
  return cudaSuccess;
}

void add_links(CLI::App&) {}

}  // namespace lanewise::bench
