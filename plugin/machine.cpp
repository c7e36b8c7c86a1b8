// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine.hpp"

#include <atomic>
#include <memory>
#include <mutex>

#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"
#include "host/process/fork_lock.hpp"

namespace lanewise::plugin {
namespace {

Machine read_machine(const std::string& file) {
  try {
    return {file.empty() ? host::read_topology() : host::read_topology(file), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

// No variable of the function's own: a child of a fork would find its guard held by a thread that
// it does not have. The child of a fork during the reading reads anew.
class KnownMachine {
 public:
  constexpr KnownMachine() noexcept = default;
  KnownMachine(const KnownMachine&) = delete;
  KnownMachine& operator=(const KnownMachine&) = delete;
  ~KnownMachine() { delete machine_.load(); }

  [[nodiscard]] const Machine* load() const noexcept { return machine_.load(); }
  const Machine& keep(std::unique_ptr<const Machine> machine) noexcept {
    machine_.store(machine.release());
    return *machine_.load();
  }

 private:
  std::atomic<const Machine*> machine_{nullptr};
};
constinit KnownMachine machine;
constinit host::ForkLock reading;

}  // namespace

const Machine& machine_of_process(const std::string& file) {
  if (const auto* known = machine.load()) return *known;
  const std::lock_guard lock(reading);
  if (const auto* known = machine.load()) return *known;
  return machine.keep(std::make_unique<const Machine>(read_machine(file)));
}

std::string describe(const Machine& shown) {
  const auto& gpus = shown.topology.gpus;
  if (gpus.empty()) return "no GPU in sight";
  const std::string count = std::to_string(gpus.size());
  if (!is_homogeneous(shown.topology) || gpus.front().model.empty()) return count + " GPUs";
  return count + "x " + gpus.front().model;
}

}  // namespace lanewise::plugin
