// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Measures in a child process, which is killed when it does not answer in time: a kernel stuck on
// a bad link cannot be stopped otherwise. The next probe gets a fresh child. The parent must not
// have called CUDA before: a child of fork cannot use its parent's.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "link_tester.hpp"

namespace lanewise::bench {

struct IsolationLimits {
  // One answer; a probe of many flows gets it once more for every four, to set them up.
  std::chrono::milliseconds probe{10'000};
  // Added to a child's first answer, in which CUDA starts: the first child also wakes the driver.
  std::chrono::milliseconds startup{60'000};
  std::chrono::milliseconds restart{5'000};
};

class IsolatedTester final : public LinkTester {
 public:
  using Factory = std::function<std::unique_ptr<LinkTester>()>;

  // `factory` runs in the child only.
  IsolatedTester(Factory factory, IsolationLimits limits);
  ~IsolatedTester() override;

  // Throws Error with the child's words where it finds nothing to measure, dies or hangs.
  [[nodiscard]] LinkMachine describe() override;
  // A child that dies or hangs is a Reading whose error says which.
  [[nodiscard]] Reading measure(const Probe& probe) override;

 private:
  struct Child {
    int process = 0;
    int socket = 0;
    bool has_answered = false;
  };

  // The answer, or in `error` what became of the child.
  struct Reply {
    std::string line;
    std::optional<std::string> error;
  };

  [[nodiscard]] Reply ask(const std::string& request, std::chrono::milliseconds limit);
  [[nodiscard]] Reply receive(std::chrono::milliseconds limit);
  void start();
  [[nodiscard]] std::string stop();

  Factory factory_;
  IsolationLimits limits_;
  std::optional<Child> child_;
  bool was_started_ = false;
};

}  // namespace lanewise::bench
