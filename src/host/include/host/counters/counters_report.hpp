// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What the live counters of processes say, as values and as text for programs.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/counters/counter_key.hpp"
#include "host/counters/live_counters.hpp"
#include "host/process/process_identity.hpp"

namespace lanewise::host {

struct CountedSize {
  CountedCall call;
  SizeExactness exactness = SizeExactness::exact;
  std::uint64_t calls = 0;
};

struct CountedCommunicator {
  std::optional<std::uint64_t> communicator;
  int ranks = 0;  // 0: several communicators of different sizes
  std::optional<PciAddress> gpu;
  CountedMode mode = CountedMode::inert;
  RecordState state = RecordState::free;
  std::vector<CountedSize> sizes;  // by bytes
};

struct CountedProcess {
  ProcessIdentity process;
  std::uint32_t user = 0;
  Liveness liveness = Liveness::unknown;
  std::string program;
  NcclRelease release;
  std::int64_t started_seconds = 0;   // since 1970, UTC
  std::uint64_t lost_calls = 0;       // not counted: the table was full
  std::vector<std::string> refusals;  // why a profile that was found is not used
  std::vector<CountedCommunicator> communicators;
  std::string path;
};

// "ring/ll/4" or "direct/two-shot"; empty: NCCL's own.
[[nodiscard]] std::string choice_of(const CountedCall& call);
// A source's name, or "direct".
[[nodiscard]] std::string_view source_of(const CountedCall& call) noexcept;

// By pid; of this user, for root of all. Throws nothing but std::bad_alloc; files that are no
// counters are passed over.
[[nodiscard]] std::vector<CountedProcess> read_live_counters(const std::string& folder);
// Removes the file of a process of this user that is dead; leaves every other one.
void remove_dead_counters(const std::string& folder, const CountedProcess& process);

// {"schema_version":1,
//  "sizes":[{"bytes":N,"calls":N},..],
//  "processes":[{"pid":N,"user":N,"state":"alive|dead|unknown","program":"..","nccl":"2.28.9",
//    "started":N,"lost_calls":N,"refusals":[".."],
//    "communicators":[{"id":"16 hex digits"|null,"ranks":N,
//      "gpu":"0000:c1:00.0"|null,"mode":"applies|observes|inert|direct","is_open":true|false,
//      "calls":[{"bytes":N,"is_exact":true|false,"calls":N,"source":"none|profile|model|forced|direct",
//        "choice":"ring/ll/4"|"direct/two-shot"|null,"is_applied":true|false,"is_captured":true|false},..]},..]},..]}
// `sizes` sums the calls of all processes by size; `lanewise-bench --from-stats` reads those. What
// mode "direct" left to NCCL (source "none") the plugin counts again where it is loaded, and
// `sizes` once; whether such a call was captured is not asked. `started` counts seconds from 1970.
// Sizes that are not exact are rounded up by at most 6 %.
[[nodiscard]] std::string format_counters_json(std::span<const CountedProcess> processes);

// Prometheus' text format: lanewise_calls_total by pid, program, ranks, bytes, source, choice,
// applied and captured, and lanewise_lost_calls_total by pid.
[[nodiscard]] std::string format_counters_prometheus(std::span<const CountedProcess> processes);

}  // namespace lanewise::host
