// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The kernels of all_reduce.hpp on threads, by the names of kernels.cu.
#include <cstdint>

#include "direct/kernel_plan.hpp"

namespace lanewise::fake {

using Kernel = void (*)(const direct::KernelPlan&, const void*, void*, std::uint64_t);
[[nodiscard]] Kernel find_kernel(const char* name);

// One launch with its arguments as they were when it was queued.
class Launch {
 public:
  Launch(Kernel kernel, unsigned blocks, void** arguments);
  // Returns when all of its threads have ended.
  void run() const;

 private:
  Kernel kernel_;
  unsigned blocks_;
  direct::KernelPlan plan_;
  const void* in_;
  void* out_;
  std::uint64_t count_;
};

}  // namespace lanewise::fake
