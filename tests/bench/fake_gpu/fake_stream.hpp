// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// CUDA's runtime as far as lanewise-bench uses it, without a GPU: a stream is a list of work that
// runs when it is waited for, with a clock of its own that work moves on.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace lanewise::fake {

using Work = std::function<void(cudaStream_t)>;

}  // namespace lanewise::fake

// Queues work, or records it into the graph being captured.
extern "C" void lanewise_fake_queue(cudaStream_t stream, const lanewise::fake::Work& work);
// Only from work that runs: the stream's clock.
extern "C" void lanewise_fake_advance(cudaStream_t stream, double us);
// Device memory that NCCL takes in this process.
extern "C" void lanewise_fake_take_memory(std::size_t bytes);
