// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "devices.hpp"

#include <array>

#include "core/error.hpp"
#include "cuda_check.hpp"

namespace lanewise::bench {
namespace {

int count_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary) {
    throw Error("no usable NVIDIA driver (libcuda.so.1) on this machine: " +
                std::string(cudaGetErrorString(status)));
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    throw Error("no GPU is visible (driver, container or CUDA_VISIBLE_DEVICES)");
  }
  if (status != cudaSuccess) {
    throw Error("the GPUs cannot be listed: " + std::string(cudaGetErrorString(status)));
  }
  return count;
}

}  // namespace

std::vector<Device> list_devices() {
  std::vector<Device> devices;
  const int count = count_devices();
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
    std::array<char, 32> pci{};
    check_cuda(cudaDeviceGetPCIBusId(pci.data(), static_cast<int>(pci.size()), index),
               "cudaDeviceGetPCIBusId");
    devices.push_back({properties.name, pci.data(), properties.major * 10 + properties.minor,
                       properties.multiProcessorCount, properties.totalGlobalMem});
  }
  return devices;
}

std::string driver_cuda_version() {
  int version = 0;
  check_cuda(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace lanewise::bench
