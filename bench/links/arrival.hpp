// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Bandwidth of flows with each transfer checked where it arrives: a copy that reports success may
// have gone to a private mirror, so only the destination's own reading of its memory counts.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probe.hpp"

namespace lanewise::bench {

// What one flow moved. `stalled`: one end waited for the other past its limit.
struct Moved {
  std::uint64_t bytes = 0;
  std::uint64_t nanoseconds = 0;
  bool stalled = false;
};

// What the destination found in its own memory, in words of the pattern.
struct Arrival {
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  std::uint64_t first_wrong = 0;  // index of a wrong word where wrong > 0
};

class FlowBackend {
 public:
  FlowBackend() = default;
  FlowBackend(const FlowBackend&) = delete;
  FlowBackend& operator=(const FlowBackend&) = delete;
  virtual ~FlowBackend() = default;

  // Fills every source with its pattern and every destination with something else.
  virtual void prepare(const Probe& probe) = 0;
  // All flows at once; one entry a flow.
  [[nodiscard]] virtual std::vector<Moved> move() = 0;
  // Flow `index` read by the GPU that owns the destination.
  [[nodiscard]] virtual Arrival inspect(std::size_t index) = 0;
};

// Empty where all words arrived.
[[nodiscard]] std::optional<std::string> fault_of(const Moved& moved, const Arrival& arrival);

// GB/s of each flow, or the first flow's fault, named.
[[nodiscard]] Reading measure_bandwidth(FlowBackend& backend, const Probe& probe);

}  // namespace lanewise::bench
