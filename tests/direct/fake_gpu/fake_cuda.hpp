// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// libcuda.so.1 without a GPU, as far as the direct layer and its tests use it: a stream is a thread
// with a queue, a kernel runs the product's algorithms on threads. Numbers are those of cuda.h.
#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

extern "C" {

// Makes the context of GPU `device` current in this thread. FAKE_CUDA_ONE_GPU=1: all contexts are
// of one GPU. FAKE_CUDA_REFUSES=NAME: that function fails; FAKE_CUDA_KILLS=NAME: it kills its
// process.
void fake_use_device(int device);
int cuStreamCreate(CUstream_st** stream, unsigned flags);
int cuStreamSynchronize(CUstream_st* stream);
int cuStreamDestroy_v2(CUstream_st* stream);
int cuStreamBeginCapture_v2(CUstream_st* stream, int mode);
int cuStreamEndCapture(CUstream_st* stream, CUgraph_st** graph);
int cuGraphInstantiateWithFlags(CUgraphExec_st** executable, CUgraph_st* graph,
                                unsigned long long flags);
int cuGraphLaunch(CUgraphExec_st* executable, CUstream_st* stream);
int cuGraphDestroy(CUgraph_st* graph);
int cuGraphExecDestroy(CUgraphExec_st* executable);
// Queues work of a test's own.
void fake_queue(CUstream_st* stream, void (*work)(void*), void* argument);

}  // extern "C"
