// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "call_graph.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <utility>
#include <vector>

#include "cuda_check.hpp"

namespace lanewise::bench {
namespace {

using ReadParameters = CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*);

// NCCL launches through the driver, and the runtime knows nothing of such nodes' kernels.
ReadParameters find_reader() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  return reinterpret_cast<ReadParameters>(dlsym(driver, "cuGraphKernelNodeGetParams_v2"));
}

}  // namespace

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

std::optional<LaunchShape> CallGraph::shape() const {
  const ReadParameters read = find_reader();
  std::size_t count = 0;
  if (read == nullptr || cudaGraphGetNodes(graph_, nullptr, &count) != cudaSuccess) {
    return std::nullopt;
  }
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph_, nodes.data(), &count) != cudaSuccess) return std::nullopt;
  std::optional<LaunchShape> largest;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeKernel) {
      continue;
    }
    CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
    if (read(node, &parameters) != CUDA_SUCCESS) continue;
    const LaunchShape found{static_cast<int>(parameters.gridDimX),
                            static_cast<int>(parameters.blockDimX)};
    if (!largest || found.threads > largest->threads) largest = found;
  }
  return largest;
}

}  // namespace lanewise::bench
