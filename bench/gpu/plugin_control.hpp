// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The plugin that NCCL loads, steered from its own process: arms, forced choices, answers.
#include <cstdint>
#include <optional>
#include <string>

#include "core/decision/decision.hpp"
#include "core/nccl/choice.hpp"
#include "lanewise/control.h"

namespace lanewise::bench {

enum class ControlMode : std::uint8_t { settings, stock, observe };

// What the plugin answered to the latest call.
struct Answer {
  std::optional<Choice> choice;  // none: nobody knows (tuner v2 without a decision)
  Source source = Source::none;
  bool is_applied = false;
};

class PluginControl {
 public:
  // Opens the file; NCCL later finds the same object. Throws Error that says what is wrong.
  explicit PluginControl(const std::string& file);

  void set_arm(ControlMode arm) const;
  // Throws std::runtime_error for a choice out of range.
  void force(const Choice& choice) const;
  void release() const { control_->release(); }
  void watch() const { control_->watch(); }
  // None where NCCL asked nothing since watch(): the plugin is not in force.
  [[nodiscard]] std::optional<Answer> last_answer() const;

 private:
  const lanewise_control_v1_t* control_;
};

// The plugin's file: `given`, else beside the program as installed or as built. Throws Error.
[[nodiscard]] std::string find_plugin(const std::string& given);

}  // namespace lanewise::bench
