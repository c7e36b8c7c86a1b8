// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Who measures links: the GPUs themselves (gpu_tester.hpp), the same in a process of its own
// (isolated_tester.hpp), or a test's fake.
#include <cstddef>
#include <string>
#include <vector>

#include "probe.hpp"

namespace lanewise::bench {

// The GPUs that a tester sees, in CUDA's order.
struct LinkMachine {
  std::vector<std::string> pci;                // "0000:c1:00.0"
  std::vector<std::string> names;              // as long as pci
  std::vector<std::vector<bool>> peer_access;  // [from][to]: may `from` store into `to`
  friend bool operator==(const LinkMachine&, const LinkMachine&) = default;

  [[nodiscard]] std::size_t size() const noexcept { return pci.size(); }
};

class LinkTester {
 public:
  LinkTester() = default;
  LinkTester(const LinkTester&) = delete;
  LinkTester& operator=(const LinkTester&) = delete;
  virtual ~LinkTester() = default;

  // Throws Error where there is nothing to measure.
  [[nodiscard]] virtual LinkMachine describe() = 0;
  // A pair that lies or stalls is a Reading with an error. Throws where the tester itself fails.
  [[nodiscard]] virtual Reading measure(const Probe& probe) = 0;
};

}  // namespace lanewise::bench
