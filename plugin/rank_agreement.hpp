// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A communicator's part of init where its ranks agree, or say that they will not. Nothing happens
// where NCCL does not tell which ranks belong together (before tuner v5), for one rank or for
// several nodes.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/agreement/agreement.hpp"
#include "host/process/settings.hpp"
#include "inputs.hpp"

namespace lanewise::plugin {

class RankAgreement {
 public:
  explicit RankAgreement(const Opening& opening) noexcept : opening_(opening) {}

  // Whether there are ranks on this node to agree with.
  [[nodiscard]] bool is_possible() const noexcept;

  // The GPU of each rank, in no order, where all ranks came with this digest; else nullopt.
  [[nodiscard]] std::optional<RankGpus> gather(std::chrono::milliseconds limit,
                                               std::uint64_t digest);
  // After a gathering: whether all ranks apply this plan. If so, this one must, whatever happens.
  [[nodiscard]] bool commit(std::uint64_t plan) noexcept;
  // Tells the other ranks that this one is inert, so that nobody waits for it. No effect after
  // a verdict.
  void withdraw() noexcept;
  // Why the ranks abstain, for people.
  [[nodiscard]] std::string reason() const;

 private:
  void begin(std::chrono::milliseconds limit, std::uint64_t digest);

  Opening opening_;
  // Kept while the communicator lives: a late rank learns the verdict from the segment.
  std::unique_ptr<host::Agreement> agreement_;
};

// Of what must be equal whatever it leads to: release, mode, profile, and the environment that
// NCCL's costs depend on. Machines may differ in what no choice rests on: plan_of() tells.
[[nodiscard]] std::uint64_t digest_of(const Inputs& inputs, host::Mode mode);
// Of all that a policy's answers depend on.
[[nodiscard]] std::uint64_t plan_of(const PolicyInputs& inputs) noexcept;

}  // namespace lanewise::plugin
