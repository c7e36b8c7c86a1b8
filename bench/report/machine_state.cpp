// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine_state.hpp"

#include <dlfcn.h>

#include <array>
#include <memory>

#include "core/error.hpp"
#include "core/machine/topology.hpp"
#include "host/machine/topology_source.hpp"

namespace lanewise::bench {
namespace {

// The part of NVML's stable C interface that is used here; 0 is success everywhere.
using NvmlDevice = struct NvmlDeviceHandle*;
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
constexpr int clock_of_multiprocessors = 1;  // NVML_CLOCK_SM

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    is_ready_ = library_ != nullptr && call("nvmlInit_v2") == 0;
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (is_ready_) call("nvmlShutdown");
    if (library_ != nullptr) dlclose(library_);
  }

  [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }

  // NVML's status, or -1 where this NVML has no such function.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    return function != nullptr ? function(arguments...) : -1;
  }

 private:
  void* library_;
  bool is_ready_ = false;
};

void read_device(const Nvml& nvml, unsigned index, MachineState& state) {
  NvmlDevice device = nullptr;
  if (nvml.call("nvmlDeviceGetHandleByIndex_v2", index, &device) != 0) return;
  unsigned clock = 0;
  if (nvml.call("nvmlDeviceGetClockInfo", device, clock_of_multiprocessors, &clock) == 0) {
    state.clocks_mhz.push_back(clock);
  }
  std::array<NvmlProcess, 32> processes{};
  auto count = static_cast<unsigned>(processes.size());
  if (nvml.call("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, processes.data()) != 0) {
    return;
  }
  for (unsigned process = 0; process < count; ++process) {
    state.users.push_back("GPU " + std::to_string(index) + " is also used by process " +
                          std::to_string(processes[process].pid));
  }
}

void read_gpus(MachineState& state) {
  const Nvml nvml;
  if (!nvml.is_ready()) {
    state.warnings.emplace_back("NVML is missing: clocks and other users are not known");
    return;
  }
  std::array<char, 96> driver{};
  if (nvml.call("nvmlSystemGetDriverVersion", driver.data(),
                static_cast<unsigned>(driver.size())) == 0) {
    state.driver = driver.data();
  }
  unsigned count = 0;
  if (nvml.call("nvmlDeviceGetCount_v2", &count) != 0) return;
  for (unsigned index = 0; index < count; ++index) read_device(nvml, index, state);
}

}  // namespace

MachineState read_machine_state() {
  MachineState state;
  read_gpus(state);
  state.warnings.insert(state.warnings.end(), state.users.begin(), state.users.end());
  try {
    state.fingerprint = lanewise::fingerprint(host::read_topology());
  } catch (const Error& error) {
    state.warnings.emplace_back(std::string("the topology is not known: ") + error.what());
  }
  return state;
}

}  // namespace lanewise::bench
