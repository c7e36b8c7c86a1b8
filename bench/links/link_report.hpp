// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What was learned of a machine's links, and its two renderings: matrices for a person, and the
// `links` object of result_schema.md.
#include <optional>
#include <string>
#include <vector>

#include "contention.hpp"
#include "link_tester.hpp"
#include "probe.hpp"

namespace lanewise::bench {

// A number is absent where it was not measured, or its probe failed.
struct PairResult {
  Flow flow;
  Method method = Method::peer;
  std::optional<double> latency_us;     // half a round trip of a flag
  std::optional<double> store_us;       // 4 KiB written, flagged and seen
  std::optional<double> one_way_gbs;    // 1e9 bytes a second
  std::optional<double> both_ways_gbs;  // sum of both directions
  std::optional<std::string> path;      // "PHB", from the topology
  std::optional<std::string> error;     // a sentence: how the pair hung or lied
  friend bool operator==(const PairResult&, const PairResult&) = default;
};

struct ContentionResult {
  Scenario scenario;
  Method method = Method::peer;
  std::vector<double> alone_gbs;     // each flow on its own
  std::vector<double> together_gbs;  // each flow with the others; empty where it failed
  std::optional<std::string> error;
  friend bool operator==(const ContentionResult&, const ContentionResult&) = default;

  // Sum together over sum alone: 1 is no contention. None where either was not measured.
  [[nodiscard]] std::optional<double> share() const;
};

struct LinkReport {
  LinkMachine machine;
  std::vector<PairResult> pairs;  // an entry per direction and method that was tried
  std::optional<double> all_pairs_gbs;
  std::optional<std::string> all_pairs_error;
  std::vector<ContentionResult> contention;
  std::vector<std::string> notes;  // what could not be measured here, one sentence each

  [[nodiscard]] const PairResult* find(const Flow& flow, Method method) const noexcept;
  [[nodiscard]] bool has_errors() const noexcept;
};

// For a terminal: one matrix a quantity and method (rows write, columns receive), then contention,
// errors and notes.
[[nodiscard]] std::string to_text(const LinkReport& report);

// The `links` object alone, as JSON text.
[[nodiscard]] std::string to_json(const LinkReport& report);

}  // namespace lanewise::bench
