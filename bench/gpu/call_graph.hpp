// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A CUDA graph of a rank's calls: captured once, which freezes NCCL's choice, then launched.
#include <cuda_runtime_api.h>

#include <functional>
#include <optional>

#include "comparison/candidate.hpp"

namespace lanewise::bench {

class CallGraph {
 public:
  CallGraph() = default;
  CallGraph(CallGraph&& other) noexcept;
  CallGraph& operator=(CallGraph&& other) noexcept;
  CallGraph(const CallGraph&) = delete;
  CallGraph& operator=(const CallGraph&) = delete;
  ~CallGraph();

  // Records what `calls` queues on the stream. Throws std::runtime_error.
  void capture(cudaStream_t stream, const std::function<void()>& calls);
  // Allocates on the device, which may wait for it to be idle: no rank's kernel may run meanwhile.
  void instantiate(cudaStream_t stream);
  void launch(cudaStream_t stream) const;
  // The grid of the largest kernel captured: NCCL's has a block for each channel. None where the
  // driver does not say.
  [[nodiscard]] std::optional<LaunchShape> shape() const;

 private:
  void reset() noexcept;

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace lanewise::bench
