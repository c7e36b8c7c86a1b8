// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Measures links with kernels on this process's GPUs. Run it in a process of its own
// (isolated_tester.hpp): a GPU that hangs takes its process along.
#include <chrono>
#include <memory>

#include "link_tester.hpp"

namespace lanewise::bench {

struct GpuTesterOptions {
  // One wait of a kernel for the other end: less than a probe may take.
  std::chrono::milliseconds wait{2'000};
};

// Throws Error where there is no driver or no GPU.
[[nodiscard]] std::unique_ptr<LinkTester> make_gpu_tester(GpuTesterOptions options);

}  // namespace lanewise::bench
