// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "fake_kernels.hpp"

#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/all_reduce.hpp"

namespace lanewise::fake {
namespace {

// More than one, so that barriers matter; few, as each is a thread of the host.
constexpr unsigned threads_of_a_block = 2;

template <typename T>
direct::Buffers<T> buffers(const void* in, void* out, std::uint64_t count) {
  return {static_cast<const T*>(in), static_cast<T*>(out), count};
}

template <typename T>
void run_ll(const direct::KernelPlan& plan, const void* in, void* out, std::uint64_t count) {
  direct::one_shot_ll(plan, buffers<T>(in, out, count));
}
template <typename T>
void run_simple(const direct::KernelPlan& plan, const void* in, void* out, std::uint64_t count) {
  direct::one_shot_simple(plan, buffers<T>(in, out, count));
}
template <typename T>
void run_two_shot(const direct::KernelPlan& plan, const void* in, void* out, std::uint64_t count) {
  direct::two_shot(plan, buffers<T>(in, out, count));
}

struct Named {
  std::string_view name;
  Kernel kernel;
};
using direct::device::Bfloat16;
using direct::device::Float16;
constexpr Named kernels[] = {
    {"lanewise_one_shot_ll_fp32", run_ll<float>},
    {"lanewise_one_shot_ll_fp16", run_ll<Float16>},
    {"lanewise_one_shot_ll_bf16", run_ll<Bfloat16>},
    {"lanewise_one_shot_simple_fp32", run_simple<float>},
    {"lanewise_one_shot_simple_fp16", run_simple<Float16>},
    {"lanewise_one_shot_simple_bf16", run_simple<Bfloat16>},
    {"lanewise_two_shot_fp32", run_two_shot<float>},
    {"lanewise_two_shot_fp16", run_two_shot<Float16>},
    {"lanewise_two_shot_bf16", run_two_shot<Bfloat16>},
};

}  // namespace

Kernel find_kernel(const char* name) {
  for (const Named& one : kernels)
    if (one.name == name) return one.kernel;
  return nullptr;
}

Launch::Launch(Kernel kernel, unsigned blocks, void** arguments)
    : kernel_(kernel),
      blocks_(blocks),
      plan_(*static_cast<direct::KernelPlan*>(arguments[0])),
      in_(*static_cast<const void**>(arguments[1])),
      out_(*static_cast<void**>(arguments[2])),
      count_(*static_cast<std::uint64_t*>(arguments[3])) {}

void Launch::run() const {
  std::vector<std::unique_ptr<direct::device::Block>> blocks;
  std::vector<std::thread> threads;
  for (unsigned block = 0; block < blocks_; ++block) {
    auto* mates =
        blocks.emplace_back(std::make_unique<direct::device::Block>(threads_of_a_block)).get();
    for (unsigned thread = 0; thread < threads_of_a_block; ++thread) {
      threads.emplace_back([this, block, thread, mates] {
        direct::device::lane = {thread, threads_of_a_block, block, blocks_, mates};
        kernel_(plan_, in_, out_, count_);
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace lanewise::fake
