// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cstdint>
#include <string_view>

#include "core/error.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"

// A machine's file is refused with an Error or gives a topology whose facts can be asked for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto topology = lanewise::host::parse_topology("fuzz.xml", text);
    (void)fingerprint(topology);
    (void)lanewise::shared_uplinks(topology);
    (void)lanewise::has_collapsing_switch(topology);
    if (topology.gpus.size() > 1) (void)topology.path(0, topology.gpus.size() - 1);
  } catch (const lanewise::Error&) {
  }
  return 0;
}
