// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What is measured at a size: an arm of the plugin, or a choice forced on NCCL. Travels from the
// driver to the ranks as JSON.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/choice.hpp"
#include "gpu/data_type.hpp"
#include "gpu/plugin_control.hpp"

namespace lanewise::bench {

// How calls reach the GPU: replayed from a CUDA graph, or queued one by one.
enum class CallMode : std::uint8_t { graph, eager };
[[nodiscard]] std::string_view name_of(CallMode mode) noexcept;

// Without a plugin (stock in ranks of its own) arm and choice are ignored.
struct Candidate {
  int id = 0;  // of the driver's making, one per size and arm
  std::string name;
  ControlMode arm = ControlMode::settings;
  std::optional<Choice> forced = {};
};

// Faults that tests inject to see them found: a wrong sum, a rank that hangs, a rank that dies.
struct FaultInjection {
  enum class Kind : std::uint8_t { none, wrong, hang, kill };
  Kind kind = Kind::none;
  int rank = 1;
  std::string candidate = {};  // empty: all in which the plugin decides or is forced
};
// "wrong", "hang", "kill", each also with ":RANK" and "@CANDIDATE". Throws Error for other words.
[[nodiscard]] FaultInjection parse_injection(std::string_view word);

// How NCCL launches a call: what the captured kernel says, whoever chose it.
struct LaunchShape {
  int channels = 0;
  int threads = 0;
};

// `calls` all-reduces of `bytes` in a row make one sample; with a trace, one for each of its sizes
// (`bytes` is then the largest). `gap_us`: a small kernel before each call, as an engine has.
struct Batch {
  std::size_t bytes = 0;
  int calls = 20;
  CallMode mode = CallMode::graph;
  std::uint64_t seed = 0;
  double gap_us = 0;
  std::vector<std::size_t> trace;
  std::vector<Candidate> candidates;
};

// What became of a candidate before it is timed.
struct Verification {
  int id = 0;
  // Empty: as good as can be told. Otherwise what is wrong with its sums.
  std::string fault;
  int wrong = 0;                 // results that failed
  std::string refusal;           // why it was not tried at all, for people; empty where it was
  std::optional<Answer> answer;  // of the plugin; none where it was not asked
  std::optional<LaunchShape> shape;

  [[nodiscard]] bool is_usable() const { return refusal.empty() && fault.empty(); }
  // The choice in force with the channels really launched; none where nobody knows it.
  [[nodiscard]] std::optional<Choice> choice_in_force() const;
};

void to_json(nlohmann::json& json, const Candidate& candidate);
void from_json(const nlohmann::json& json, Candidate& candidate);
void to_json(nlohmann::json& json, const Batch& batch);
void from_json(const nlohmann::json& json, Batch& batch);
void to_json(nlohmann::json& json, const Verification& verification);
void from_json(const nlohmann::json& json, Verification& verification);

}  // namespace lanewise::bench
