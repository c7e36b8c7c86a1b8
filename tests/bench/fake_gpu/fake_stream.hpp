// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// CUDA's runtime as far as lanewise-bench uses it, without a GPU: a stream is a list of work that
// runs when it is waited for, with a clock of its own that work moves on.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdlib>
#include <functional>

namespace lanewise::fake {

using Work = std::function<void(cudaStream_t)>;

// Of a kernel that NCCL launches; none for the bench's own.
struct Grid {
  unsigned blocks = 0;
  unsigned threads = 0;
};
struct QueuedWork {
  Work work;
  Grid grid;
};

// LANEWISE_FAKE_SMS: multiprocessors of each GPU. Where it is set, the driver tells of launches,
// and kernels whose blocks do not fit never end; without it 0.
[[nodiscard]] inline int multiprocessors() {
  const char* text = std::getenv("LANEWISE_FAKE_SMS");
  return text != nullptr ? std::atoi(text) : 0;
}
[[nodiscard]] inline int gpus() {
  const char* text = std::getenv("LANEWISE_FAKE_GPUS");
  return text != nullptr ? std::atoi(text) : 2;
}

}  // namespace lanewise::fake

// Queues work, or records it into the graph being captured.
extern "C" void lanewise_fake_queue(cudaStream_t stream, const lanewise::fake::Work& work);
// The same for a kernel of NCCL's.
extern "C" void lanewise_fake_launch(cudaStream_t stream, const lanewise::fake::Work& work,
                                     const lanewise::fake::Grid& grid);
// Only from work that runs: the stream's clock.
extern "C" void lanewise_fake_advance(cudaStream_t stream, double us);
// Device memory that NCCL takes in this process.
extern "C" void lanewise_fake_take_memory(std::size_t bytes);
