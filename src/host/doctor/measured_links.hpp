// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What `lanewise-bench links` measured, as its result file says it.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::host {

struct MeasuredPair {
  std::string from;  // PCI addresses
  std::string to;
  bool is_peer = false;  // else through host memory
  std::optional<double> one_way_gbs;
  std::string error;  // how it hung or lied; empty: it did not
};

// Several pairs at the same time.
struct MeasuredContention {
  std::string name;
  std::vector<double> alone_gbs;
  std::vector<double> together_gbs;
  std::string error;
};

struct MeasuredLinks {
  std::vector<MeasuredPair> pairs;
  std::vector<MeasuredContention> contention;
  std::string failure;  // why there is none; empty: there is
};

// Throws Error with file and line.
[[nodiscard]] MeasuredLinks parse_measured_links(std::string_view text, const std::string& file);
// Runs the bench that lies beside this program or along PATH, and ends it after `limit`.
[[nodiscard]] MeasuredLinks measure_links(std::chrono::seconds limit);

}  // namespace lanewise::host
