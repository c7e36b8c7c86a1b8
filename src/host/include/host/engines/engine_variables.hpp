// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What serving engines set of NCCL's variables by themselves, from the one data file
// src/host/engines/engines.json, which is built in.
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/profile.hpp"

namespace lanewise::host {

struct EngineVariable {
  std::string name;
  std::string value;
  bool is_default = false;  // set for every server with tensor parallelism and CUDA graphs
  std::string when;         // for people
  std::string source;       // the file of the engine that sets it
};

struct Engine {
  std::string name;
  std::string release;  // that was read
  std::vector<EngineVariable> variables;

  // What a server of this engine has by default; a value of the user's wins in it.
  [[nodiscard]] Environment defaults() const;
};

// Throws Error with file and line for another format.
[[nodiscard]] std::vector<Engine> parse_engines(std::string_view text, const std::string& file);
// Those built in.
[[nodiscard]] const std::vector<Engine>& known_engines();
// Throws Error that names those known.
[[nodiscard]] const Engine& find_engine(std::string_view name);

}  // namespace lanewise::host
