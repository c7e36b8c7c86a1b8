// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "gpu/devices.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.hpp"

namespace lanewise::bench {
namespace {

void show_devices() {
  const auto devices = list_devices();
  std::printf("driver for CUDA %s\n", driver_cuda_version().c_str());
  for (std::size_t index = 0; index < devices.size(); ++index) {
    const Device& device = devices[index];
    std::printf("GPU %zu: %s at %s, sm_%d, %d multiprocessors, %.0f GiB\n", index,
                device.name.c_str(), device.pci.c_str(), device.compute_capability,
                device.multiprocessors, static_cast<double>(device.memory_bytes) / (1U << 30U));
  }
}

}  // namespace

void add_devices(CLI::App& app) {
  app.add_subcommand("devices", "Show the driver and the GPUs that the bench would use")
      ->callback(show_devices);
}

}  // namespace lanewise::bench
