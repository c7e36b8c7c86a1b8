// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The GPUs that CUDA shows to this process.
#include <cstddef>
#include <string>
#include <vector>

namespace lanewise::bench {

struct Device {
  std::string name;
  std::string pci;             // "0000:c1:00.0"
  int compute_capability = 0;  // 90 for sm_90
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

// Throws Error that says what is missing: the driver, or a GPU.
[[nodiscard]] std::vector<Device> list_devices();

// The driver's CUDA version, as in "13.0".
[[nodiscard]] std::string driver_cuda_version();

}  // namespace lanewise::bench
