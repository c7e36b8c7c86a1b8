// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "buffers.hpp"

#include "cuda_check.hpp"

namespace lanewise::bench {
namespace {

// Engines' buffers are at least this aligned (PyTorch's allocator); NCCL wants 16.
constexpr std::size_t alignment = 512;

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

Buffers::Buffers(std::size_t max_bytes) : max_bytes_(rounded_up(max_bytes)) {
  check_cuda(cudaMalloc(reinterpret_cast<void**>(&memory_), 2 * max_bytes_ + 4 * guard_bytes),
             "cudaMalloc of input and output");
  check_cuda(cudaMalloc(reinterpret_cast<void**>(&result_), sizeof(CheckResult)), "cudaMalloc");
  check_cuda(cudaMallocHost(reinterpret_cast<void**>(&found_), sizeof(CheckResult)),
             "cudaMallocHost");
  *found_ = CheckResult{};
}

Buffers::~Buffers() {
  static_cast<void>(cudaFreeHost(found_));
  static_cast<void>(cudaFree(result_));
  static_cast<void>(cudaFree(memory_));
}

void Buffers::arm_guards(std::size_t bytes, cudaStream_t stream) const {
  for (char* payload : {input(), output()}) {
    check_cuda(cudaMemsetAsync(payload - guard_bytes, guard_byte, guard_bytes, stream), "memset");
    check_cuda(cudaMemsetAsync(payload + bytes, guard_byte, guard_bytes, stream), "memset");
  }
  check_cuda(cudaMemsetAsync(output(), poison_byte, bytes, stream), "memset");
}

void Buffers::queue_checks(std::size_t bytes, DataType type, const InputCode& code, int ranks,
                           cudaStream_t stream) const {
  // All ones in first_wrong, zero elsewhere: what CheckResult{} holds.
  check_cuda(cudaMemsetAsync(result_, 0, sizeof(CheckResult), stream), "memset");
  check_cuda(cudaMemsetAsync(&result_->first_wrong, 0xff, sizeof(result_->first_wrong), stream),
             "memset");
  const Elements output_elements{output(), bytes / size_of(type), type};
  check_cuda(check_sums(output_elements, code, ranks, result_, stream), "check_sums");
  for (const char* payload : {input(), output()}) {
    check_cuda(check_guard(payload - guard_bytes, guard_bytes, result_, stream), "check_guard");
    check_cuda(check_guard(payload + bytes, guard_bytes, result_, stream), "check_guard");
  }
  check_cuda(cudaMemcpyAsync(found_, result_, sizeof(CheckResult), cudaMemcpyDeviceToHost, stream),
             "cudaMemcpyAsync");
}

}  // namespace lanewise::bench
