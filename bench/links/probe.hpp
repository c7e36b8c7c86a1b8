// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// One question to the links of a machine and its answer, as values and as lines of text: they
// travel between the process that asks and the one that measures.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::bench {

// Data from one GPU to another, by CUDA's numbers; from == to is a GPU with itself.
struct Flow {
  int from = 0;
  int to = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

// peer: stores into the other GPU's memory. host: through pinned memory of the host.
enum class Method : std::uint8_t { peer, host };

// latency: half a round trip of a flag, us. store: 4 KiB written, flagged and seen, us.
// bandwidth: all flows at once, GB/s (1e9 bytes) of each.
enum class ProbeKind : std::uint8_t { latency, store, bandwidth };

struct Probe {
  ProbeKind kind = ProbeKind::latency;
  Method method = Method::peer;
  std::vector<Flow> flows;  // latency and store: exactly one
  friend bool operator==(const Probe&, const Probe&) = default;
};

// One value a flow, or why there is none.
struct Reading {
  std::vector<double> values;
  std::optional<std::string> error;
  friend bool operator==(const Reading&, const Reading&) = default;
};

[[nodiscard]] std::string_view name_of(Method method) noexcept;
[[nodiscard]] std::string_view name_of(ProbeKind kind) noexcept;
[[nodiscard]] std::string to_string(const Flow& flow);  // "0>1"

// "bandwidth peer 0>1 1>0". The parser throws Error on any other text.
[[nodiscard]] std::string to_string(const Probe& probe);
[[nodiscard]] Probe parse_probe(std::string_view text);
[[nodiscard]] Flow parse_flow(std::string_view text);

// "ok 1.5 2" or "error the text". The parser throws Error on any other text.
[[nodiscard]] std::string to_string(const Reading& reading);
[[nodiscard]] Reading parse_reading(std::string_view text);

}  // namespace lanewise::bench
