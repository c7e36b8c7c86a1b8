// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The time a stream takes between two points, by the GPU's clock.
#include <cuda_runtime_api.h>

namespace lanewise::bench {

class Timer {
 public:
  // On the current device. Throws std::runtime_error.
  Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  void start(cudaStream_t stream) const;
  void stop(cudaStream_t stream) const;
  // Between start and stop; the stream must have been waited for.
  [[nodiscard]] double microseconds() const;

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace lanewise::bench
