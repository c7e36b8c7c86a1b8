// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "arrival.hpp"

namespace lanewise::bench {

std::optional<std::string> fault_of(const Moved& moved, const Arrival& arrival) {
  if (moved.stalled) return "one end waited for the other past its time limit";
  if (moved.bytes == 0 || moved.nanoseconds == 0) return "nothing was moved";
  if (arrival.checked == 0) return "nothing was checked at the destination";
  if (arrival.wrong == 0) return std::nullopt;
  return std::to_string(arrival.wrong) + " of " + std::to_string(arrival.checked) +
         " words did not arrive in the destination's own memory (one is word " +
         std::to_string(arrival.first_wrong) + ")";
}

Reading measure_bandwidth(FlowBackend& backend, const Probe& probe) {
  backend.prepare(probe);
  const std::vector<Moved> moved = backend.move();
  Reading reading;
  for (std::size_t index = 0; index < probe.flows.size(); ++index) {
    const Moved& flow = moved.at(index);
    if (const auto fault = fault_of(flow, backend.inspect(index))) {
      return {{}, to_string(probe.flows.at(index)) + " " + *fault};
    }
    // Bytes a nanosecond are GB/s.
    reading.values.push_back(static_cast<double>(flow.bytes) /
                             static_cast<double>(flow.nanoseconds));
  }
  return reading;
}

}  // namespace lanewise::bench
