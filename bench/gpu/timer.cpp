// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "timer.hpp"

#include "cuda_check.hpp"

namespace lanewise::bench {

Timer::Timer() {
  check_cuda(cudaEventCreate(&start_), "cudaEventCreate");
  check_cuda(cudaEventCreate(&stop_), "cudaEventCreate");
}

Timer::~Timer() {
  static_cast<void>(cudaEventDestroy(start_));
  static_cast<void>(cudaEventDestroy(stop_));
}

void Timer::start(cudaStream_t stream) const {
  check_cuda(cudaEventRecord(start_, stream), "cudaEventRecord");
}

void Timer::stop(cudaStream_t stream) const {
  check_cuda(cudaEventRecord(stop_, stream), "cudaEventRecord");
}

double Timer::microseconds() const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1000;
}

}  // namespace lanewise::bench
