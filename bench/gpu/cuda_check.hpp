// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Turns a failed CUDA call into an exception that names the call.
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace lanewise::bench {

inline void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

}  // namespace lanewise::bench
