// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// The kernels by the names under which kernel_names.hpp looks them up: form, then element type.
#include "kernels/all_reduce.hpp"

namespace lanewise::direct {
namespace {

template <typename T>
__device__ Buffers<T> buffers_of(const void* in, void* out, std::uint64_t count) {
  return {static_cast<const T*>(in), static_cast<T*>(out), count};
}

}  // namespace

#define LANEWISE_KERNEL(form, name, type)                                                        \
  extern "C" __global__ void __launch_bounds__(kernel_threads) lanewise_##form##_##name(         \
      const __grid_constant__ KernelPlan plan, const void* in, void* out, std::uint64_t count) { \
    form(plan, buffers_of<type>(in, out, count));                                                \
  }

LANEWISE_KERNEL(one_shot_ll, fp32, float)
LANEWISE_KERNEL(one_shot_ll, fp16, __half)
LANEWISE_KERNEL(one_shot_ll, bf16, __nv_bfloat16)
LANEWISE_KERNEL(one_shot_simple, fp32, float)
LANEWISE_KERNEL(one_shot_simple, fp16, __half)
LANEWISE_KERNEL(one_shot_simple, bf16, __nv_bfloat16)
LANEWISE_KERNEL(two_shot, fp32, float)
LANEWISE_KERNEL(two_shot, fp16, __half)
LANEWISE_KERNEL(two_shot, bf16, __nv_bfloat16)

#undef LANEWISE_KERNEL

}  // namespace lanewise::direct
