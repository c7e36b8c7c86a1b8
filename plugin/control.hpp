// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The plugin's side of lanewise/control.h: process-wide atomics that a bench in this process sets.
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/decision/decision.hpp"
#include "core/nccl/choice.hpp"

namespace lanewise::plugin {

enum class ControlMode : std::uint8_t { settings, stock, observe };

struct ControlState {
  ControlMode arm = ControlMode::settings;
  std::optional<Choice> forced;
  bool is_watched = false;
};

// 0 while nobody uses the interface.
extern constinit std::atomic<std::uint32_t> control_word;
[[nodiscard]] inline bool is_control_used() noexcept {
  return control_word.load(std::memory_order_relaxed) != 0;
}

// Nullopt while nobody uses the interface: one relaxed load.
[[nodiscard]] std::optional<ControlState> read_control() noexcept;

enum class Outcome : std::uint8_t { left_to_nccl, applied };

// `choice`: what was decided, else NCCL's own pick; none where no table shows that.
void record_answer(const Query& query, const std::optional<Choice>& choice, Source source,
                   Outcome outcome) noexcept;

}  // namespace lanewise::plugin
