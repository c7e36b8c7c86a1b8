// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Ranks that agree over files in a folder of their own.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/agreement/agreement.hpp"

namespace lanewise::host {

// A folder of its own per test stands for /dev/shm; it lies there, as futexes need memory files.
class AgreementTest : public ::testing::Test {
 protected:
  AgreementTest() {
    std::string pattern = "/dev/shm/lanewise-test-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~AgreementTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] AgreementRequest request(int rank, int ranks) const {
    AgreementRequest wanted;
    wanted.communicator = 0x1234;
    wanted.ranks = ranks;
    wanted.digest = 7;
    wanted.gpu = PciAddress{0x10000, static_cast<std::uint8_t>(rank), 0, 0};
    wanted.limit = std::chrono::seconds(10);
    wanted.folder = folder_;
    return wanted;
  }

  [[nodiscard]] std::size_t files_left() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

  std::string folder_;
};

// Keeps the agreement, as a communicator does: late ranks learn the verdict from it.
struct Outcome {
  std::unique_ptr<Agreement> agreement;
  AgreementVerdict verdict = AgreementVerdict::pending;
  std::string note;
  std::size_t gpus = 0;
};

inline Outcome agree(const AgreementRequest& request, std::uint64_t plan = 1) {
  Outcome outcome{std::make_unique<Agreement>(request)};
  if (const auto gpus = outcome.agreement->gather()) {
    for (const auto& gpu : *gpus) outcome.gpus += gpu.has_value() ? 1 : 0;
    (void)outcome.agreement->commit(plan);
  }
  outcome.verdict = outcome.agreement->verdict();
  outcome.note = outcome.agreement->note();
  return outcome;
}

inline std::vector<Outcome> agree_as_threads(const std::vector<AgreementRequest>& requests) {
  std::vector<Outcome> outcomes(requests.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < requests.size(); ++i)
    threads.emplace_back([&, i] { outcomes[i] = agree(requests[i]); });
  for (auto& thread : threads) thread.join();
  return outcomes;
}

}  // namespace lanewise::host
