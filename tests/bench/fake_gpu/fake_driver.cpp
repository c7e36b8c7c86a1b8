// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// libcuda.so.1 as far as the bench uses it: what a captured kernel's grid is.
#include <cuda.h>

#include "fake_stream.hpp"

extern "C" CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                                  CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  const auto& grid = reinterpret_cast<const lanewise::fake::QueuedWork*>(node)->grid;
  *parameters = {};
  parameters->gridDimX = grid.blocks;
  parameters->blockDimX = grid.threads;
  return CUDA_SUCCESS;
}
