// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "gpu_tester.hpp"

#include <cstdlib>

#include "arrival.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/devices.hpp"
#include "gpu_flows.hpp"
#include "gpu_ping.hpp"

namespace lanewise::bench {
namespace {

class GpuTester final : public LinkTester {
 public:
  explicit GpuTester(GpuTesterOptions options) : options_(options) {}

  LinkMachine describe() override {
    LinkMachine machine;
    for (const Device& device : list_devices()) {
      machine.pci.push_back(device.pci);
      machine.names.push_back(device.name);
    }
    const int count = static_cast<int>(machine.size());
    for (int from = 0; from < count; ++from) {
      std::vector<bool> row;
      for (int to = 0; to < count; ++to) row.push_back(has_access(from, to));
      machine.peer_access.push_back(std::move(row));
    }
    return machine;
  }

  Reading measure(const Probe& probe) override {
    switch (probe.kind) {
      case ProbeKind::latency:
        return measure_latency(probe.flows.front(), probe.method, options_.wait);
      case ProbeKind::store:
        return measure_store(probe.flows.front(), probe.method, options_.wait);
      case ProbeKind::bandwidth:
        break;
    }
    return measure_bandwidth(*make_gpu_flows(options_.wait), probe);
  }

 private:
  static bool has_access(int from, int to) {
    if (from == to) return true;
    int access = 0;
    check_cuda(cudaDeviceCanAccessPeer(&access, from, to), "cudaDeviceCanAccessPeer");
    return access != 0;
  }

  GpuTesterOptions options_;
};

}  // namespace

std::unique_ptr<LinkTester> make_gpu_tester(GpuTesterOptions options) {
  // Kernels that wait for each other must not share a queue of the GPU; the default is 8 of 32.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  return std::make_unique<GpuTester>(options);
}

}  // namespace lanewise::bench
