// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Another program in a process of its own, whose output is waited for no longer than a limit.
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace lanewise::host {

class BoundedCommand {
 public:
  // Starts it, found along PATH, without input and with its errors thrown away. A program that is
  // not there counts as one that prints nothing.
  explicit BoundedCommand(const std::vector<std::string>& words);
  BoundedCommand(const BoundedCommand&) = delete;
  BoundedCommand& operator=(const BoundedCommand&) = delete;
  ~BoundedCommand();

  // What it printed until it closed its output; empty where it failed or was not done by `end`,
  // after which it is killed.
  [[nodiscard]] std::string collect(std::chrono::steady_clock::time_point end);

 private:
  void stop() noexcept;

  pid_t child_ = -1;
  int output_ = -1;
};

}  // namespace lanewise::host
