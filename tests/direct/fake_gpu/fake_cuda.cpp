// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "fake_cuda.hpp"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "fake_kernels.hpp"

using Work = std::function<void()>;

struct CUctx_st {
  int device;
};
struct CUevent_st {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t recorded = 0;
  std::uint64_t done = 0;
};
struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st {
  std::vector<Work> work;
};
struct CUfunc_st {
  lanewise::fake::Kernel kernel;
};

struct CUstream_st {
  CUstream_st() : number(++last_number), worker([this] { serve(); }) {}
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;
  ~CUstream_st() {
    {
      const std::lock_guard lock(mutex);
      is_ending = true;
    }
    changed.notify_all();
    worker.join();
  }

  void add(Work one) {
    if (captured != nullptr) {
      captured->push_back(std::move(one));
      return;
    }
    const std::lock_guard lock(mutex);
    queue.push_back(std::move(one));
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    idle.wait(lock, [this] { return queue.empty() && !is_busy; });
  }
  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return !queue.empty() || is_ending; });
      if (queue.empty()) return;
      Work one = std::move(queue.front());
      queue.pop_front();
      is_busy = true;
      lock.unlock();
      one();
      lock.lock();
      is_busy = false;
      idle.notify_all();
    }
  }

  static std::atomic<std::uint64_t> last_number;
  std::uint64_t number;
  std::uint64_t capture = 0;
  std::vector<Work>* captured = nullptr;
  bool is_invalidated = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::condition_variable idle;
  std::deque<Work> queue;
  bool is_busy = false;
  bool is_ending = false;
  std::thread worker;
};
std::atomic<std::uint64_t> CUstream_st::last_number{0};

namespace {

constexpr int ok = 0;
constexpr int refused = 2;  // CUDA_ERROR_OUT_OF_MEMORY
constexpr int not_ready = 600;
constexpr int capture_unsupported = 900;  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
constexpr int most_devices = 16;
// All blocks of all ranks run at once, each of few threads.
constexpr int multiprocessors = 4;

CUctx_st contexts[most_devices];
thread_local CUctx_st* current = nullptr;
std::atomic<std::uint64_t> last_capture{0};

bool is_named_by(const char* variable, const char* name) {
  const char* wanted = std::getenv(variable);
  return wanted != nullptr && std::strcmp(wanted, name) == 0;
}

bool is_refused(const char* name) {
  if (is_named_by("FAKE_CUDA_KILLS", name)) std::raise(SIGKILL);
  return is_named_by("FAKE_CUDA_REFUSES", name);
}

int allocate(void** memory, std::size_t bytes, const char* name) {
  if (is_refused(name)) return refused;
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *memory == nullptr ? refused : ok;
}

}  // namespace

extern "C" {

void fake_use_device(int device) {
  contexts[device].device = device;
  current = &contexts[device];
}
void fake_queue(CUstream_st* stream, void (*work)(void*), void* argument) {
  stream->add([=] { work(argument); });
}

int cuGetErrorName(int status, const char** name) {
  *name = status == refused ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
  return ok;
}
int cuCtxGetCurrent(CUctx_st** context) {
  *context = current;
  return ok;
}
int cuCtxPushCurrent_v2(CUctx_st* context) {
  current = context;
  return ok;
}
int cuCtxPopCurrent_v2(CUctx_st** context) {
  *context = current;
  return ok;
}
int cuCtxGetDevice(int* device) {
  *device = current->device;
  return ok;
}
int cuDeviceGetAttribute(int* value, int, int) {
  const bool is_one_gpu = std::getenv("FAKE_CUDA_ONE_GPU") != nullptr;
  *value = is_one_gpu ? multiprocessors * most_devices : multiprocessors;
  return ok;
}
int cuDeviceGetUuid(void* uuid, int device) {
  std::memset(uuid, std::getenv("FAKE_CUDA_ONE_GPU") != nullptr ? 1 : 1 + device, 16);
  return ok;
}

int cuModuleLoadData(void** module, const void*) {
  *module = &contexts;
  return is_refused("cuModuleLoadData") ? refused : ok;
}
int cuModuleGetFunction(CUfunc_st** function, void*, const char* name) {
  *function = new CUfunc_st{lanewise::fake::find_kernel(name)};
  return (*function)->kernel == nullptr ? 500 : ok;
}
int cuFuncGetAttribute(int* value, int, CUfunc_st*) {
  *value = 64;
  return ok;
}

int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
  return allocate(reinterpret_cast<void**>(pointer), bytes, "cuMemAlloc");
}
int cuMemFree_v2(std::uint64_t pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  return ok;
}
int cuMemsetD8Async(std::uint64_t pointer, unsigned char byte, std::size_t bytes, CUstream_st*) {
  std::memset(reinterpret_cast<void*>(pointer), byte, bytes);
  return ok;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes, "cuMemHostAlloc");
}
int cuMemFreeHost(void* memory) {
  std::free(memory);
  return ok;
}
int cuMemHostRegister_v2(void*, std::size_t, unsigned) {
  return is_refused("cuMemHostRegister") ? refused : ok;
}
int cuMemHostUnregister(void*) { return ok; }
int cuMemHostGetDevicePointer_v2(std::uint64_t* pointer, void* memory, unsigned) {
  *pointer = reinterpret_cast<std::uint64_t>(memory);
  return ok;
}

int cuStreamCreate(CUstream_st** stream, unsigned) {
  *stream = new CUstream_st;
  return ok;
}
int cuStreamDestroy_v2(CUstream_st* stream) {
  delete stream;
  return ok;
}
int cuStreamSynchronize(CUstream_st* stream) {
  stream->wait();
  return ok;
}
// As the real one: not while the stream is captured, and the capture is lost by asking.
int cuStreamGetId(CUstream_st* stream, unsigned long long* number) {
  if (stream->captured != nullptr) {
    stream->is_invalidated = true;
    return capture_unsupported;
  }
  *number = stream->number;
  return ok;
}
int cuStreamGetCaptureInfo_v2(CUstream_st* stream, int* status, std::uint64_t* number, void*, void*,
                              std::size_t*) {
  const int capturing = stream->is_invalidated ? 2 : 1;
  *status = stream->captured != nullptr ? capturing : 0;
  *number = stream->capture;
  return ok;
}

int cuEventCreate(CUevent_st** event, unsigned) {
  *event = new CUevent_st;
  return is_refused("cuEventCreate") ? refused : ok;
}
int cuEventDestroy_v2(CUevent_st* event) {
  delete event;
  return ok;
}
int cuEventRecord(CUevent_st* event, CUstream_st* stream) {
  if (stream->captured != nullptr) return ok;
  std::uint64_t mark = 0;
  {
    const std::lock_guard lock(event->mutex);
    mark = ++event->recorded;
  }
  stream->add([event, mark] {
    const std::lock_guard lock(event->mutex);
    event->done = mark;
    event->changed.notify_all();
  });
  return ok;
}
int cuEventQuery(CUevent_st* event) {
  const std::lock_guard lock(event->mutex);
  return event->done >= event->recorded ? ok : not_ready;
}
int cuStreamWaitEvent(CUstream_st* stream, CUevent_st* event, unsigned) {
  if (stream->captured != nullptr) return ok;
  std::uint64_t mark = 0;
  {
    const std::lock_guard lock(event->mutex);
    mark = event->recorded;
  }
  stream->add([event, mark] {
    std::unique_lock lock(event->mutex);
    event->changed.wait(lock, [&] { return event->done >= mark; });
  });
  return ok;
}

int cuLaunchKernel(CUfunc_st* function, unsigned blocks, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, CUstream_st* stream, void** arguments, void**) {
  if (is_refused("cuLaunchKernel")) return refused;
  const lanewise::fake::Launch launch(function->kernel, blocks, arguments);
  stream->add([launch] { launch.run(); });
  return ok;
}

int cuStreamBeginCapture_v2(CUstream_st* stream, int) {
  stream->captured = new std::vector<Work>;
  stream->is_invalidated = false;
  stream->capture = ++last_capture;
  return ok;
}
int cuStreamEndCapture(CUstream_st* stream, CUgraph_st** graph) {
  *graph = new CUgraph_st{std::move(*stream->captured)};
  delete stream->captured;
  stream->captured = nullptr;
  return ok;
}
int cuGraphInstantiateWithFlags(CUgraphExec_st** executable, CUgraph_st* graph,
                                unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return ok;
}
int cuGraphLaunch(CUgraphExec_st* executable, CUstream_st* stream) {
  for (const Work& work : executable->work) stream->add(work);
  return ok;
}
int cuGraphDestroy(CUgraph_st* graph) {
  delete graph;
  return ok;
}
int cuGraphExecDestroy(CUgraphExec_st* executable) {
  delete executable;
  return ok;
}

}  // extern "C"
