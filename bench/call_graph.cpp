// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "call_graph.hpp"

#include <utility>

#include "cuda_check.hpp"

namespace lanewise::bench {

CallGraph::CallGraph(CallGraph&& other) noexcept
    : graph_(std::exchange(other.graph_, nullptr)),
      executable_(std::exchange(other.executable_, nullptr)) {}

CallGraph& CallGraph::operator=(CallGraph&& other) noexcept {
  reset();
  graph_ = std::exchange(other.graph_, nullptr);
  executable_ = std::exchange(other.executable_, nullptr);
  return *this;
}

CallGraph::~CallGraph() { reset(); }

void CallGraph::reset() noexcept {
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
  executable_ = nullptr;
  graph_ = nullptr;
}

void CallGraph::capture(cudaStream_t stream, const std::function<void()>& calls) {
  // Relaxed: NCCL connects an algorithm's channels at its first call, and ranks are threads that
  // capture at the same time; neither may spoil the other's capture.
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
             "cudaStreamBeginCapture");
  try {
    calls();
  } catch (const std::exception&) {
    // The stream must leave capture mode before anything else; the first error is the one to tell.
    cudaGraph_t broken = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream, &broken));
    if (broken != nullptr) static_cast<void>(cudaGraphDestroy(broken));
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream, &graph_), "cudaStreamEndCapture");
}

void CallGraph::instantiate(cudaStream_t stream) {
  check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  check_cuda(cudaGraphUpload(executable_, stream), "cudaGraphUpload");
}

void CallGraph::launch(cudaStream_t stream) const {
  check_cuda(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
}

}  // namespace lanewise::bench
