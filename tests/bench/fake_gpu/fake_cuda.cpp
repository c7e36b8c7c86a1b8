// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fake_stream.hpp"

using lanewise::fake::QueuedWork;
using lanewise::fake::Work;

struct CUstream_st {
  std::vector<QueuedWork> queued;
  std::vector<QueuedWork>* captured = nullptr;
  double clock_us = 0;
};
struct CUgraph_st {
  std::vector<QueuedWork> work;
};
struct CUgraphExec_st {
  std::vector<QueuedWork> work;
};
struct CUevent_st {
  double time_us = 0;
};

namespace {

std::atomic<std::size_t> memory_taken{0};

int multiprocessors_of_device() {
  constexpr int usual = 132;
  const int wanted = lanewise::fake::multiprocessors();
  return wanted > 0 ? wanted : usual;
}

}  // namespace

extern "C" {

void lanewise_fake_take_memory(std::size_t bytes) { memory_taken += bytes; }
void lanewise_fake_queue(cudaStream_t stream, const Work& work) {
  lanewise_fake_launch(stream, work, {});
}
void lanewise_fake_launch(cudaStream_t stream, const Work& work, const lanewise::fake::Grid& grid) {
  (stream->captured != nullptr ? *stream->captured : stream->queued).push_back({work, grid});
}
void lanewise_fake_advance(cudaStream_t stream, double us) { stream->clock_us += us; }

const char* cudaGetErrorString(cudaError_t) { return "no error that a fake GPU knows"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = lanewise::fake::gpus();
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "Fake GPU");
  properties->major = 9;
  properties->multiProcessorCount = multiprocessors_of_device();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", 16 + device);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const bool is_count = attribute == cudaDevAttrMultiProcessorCount;
  *value = is_count ? multiprocessors_of_device() : 1'000'000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = std::size_t{80} << 30U;
  *free = *total - memory_taken;
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }
cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t stream) {
  lanewise_fake_queue(stream, [=](cudaStream_t) { std::memset(memory, byte, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  lanewise_fake_queue(stream, [=](cudaStream_t) { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream->captured != nullptr) return cudaErrorStreamCaptureUnsupported;
  std::vector<QueuedWork> work;
  work.swap(stream->queued);
  for (const QueuedWork& one : work) one.work(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->captured = new std::vector<QueuedWork>;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = new CUgraph_st{*stream->captured};
  delete stream->captured;
  stream->captured = nullptr;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
// A node is what was queued; only NCCL's kernels are told of.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  std::size_t found = 0;
  for (QueuedWork& one : graph->work) {
    if (one.grid.blocks == 0 || lanewise::fake::multiprocessors() == 0) continue;
    if (nodes != nullptr) nodes[found] = reinterpret_cast<cudaGraphNode_t>(&one);
    ++found;
  }
  *count = found;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, cudaGraphNodeType* type) {
  *type = cudaGraphNodeTypeKernel;
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  for (const QueuedWork& one : executable->work) lanewise_fake_launch(stream, one.work, one.grid);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  lanewise_fake_queue(stream, [event](cudaStream_t here) { event->time_us = here->clock_us; });
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  *milliseconds = static_cast<float>((stop->time_us - start->time_us) / 1000);
  return cudaSuccess;
}

}  // extern "C"
