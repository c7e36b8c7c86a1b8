// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One rank's input and output with guard bands before and after, and where checks put results.
#include <cuda_runtime_api.h>

#include <cstddef>

#include "check_kernels.hpp"

namespace lanewise::bench {

// A page: what an overrun by one step of any protocol (a few hundred bytes) cannot jump over.
inline constexpr std::size_t guard_bytes = 4096;

class Buffers {
 public:
  // For payloads of up to `max_bytes`, on the current device. Throws std::runtime_error.
  explicit Buffers(std::size_t max_bytes);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  [[nodiscard]] std::size_t max_bytes() const noexcept { return max_bytes_; }
  [[nodiscard]] char* input() const noexcept { return memory_ + guard_bytes; }
  [[nodiscard]] char* output() const noexcept { return input() + max_bytes_ + 2 * guard_bytes; }

  // Writes guards around both payloads of this size and poisons the output, on the stream.
  void arm_guards(std::size_t bytes, cudaStream_t stream) const;
  // Queues the check of all guards and of the output's sums.
  void queue_checks(std::size_t bytes, DataType type, const InputCode& code, int ranks,
                    cudaStream_t stream) const;
  // What the checks found; valid when the stream has been waited for.
  [[nodiscard]] const CheckResult& found() const noexcept { return *found_; }

 private:
  std::size_t max_bytes_;
  char* memory_ = nullptr;
  CheckResult* result_ = nullptr;  // on the device
  CheckResult* found_ = nullptr;   // pinned
};

}  // namespace lanewise::bench
