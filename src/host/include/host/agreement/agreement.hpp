// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// All ranks of a communicator apply, or none does: the protocol of lanewise/agreement.hpp over a
// file in shared memory. Used by the plugin's init, from any number of threads and processes.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/agreement/agreement.hpp"
#include "core/machine/topology.hpp"

namespace lanewise::host {

struct AgreementRequest {
  std::uint64_t communicator = 0;  // NCCL's commId: the same on all its ranks
  int ranks = 0;                   // 2 to AgreementWord::max_ranks
  // Of everything that the choice depends on: ranks that differ abstain.
  std::uint64_t digest = 0;
  std::optional<PciAddress> gpu;  // of this rank; none where unknown
  // How long a rank waits for the others to come and, once more, for them to be ready.
  std::chrono::milliseconds limit{2000};
  std::string folder = "/dev/shm";
};

class Agreement {
 public:
  // Touches nothing yet.
  explicit Agreement(AgreementRequest request);
  // Withdraws where no verdict was reached, and frees the name where it still stands. A stopped or
  // killed rank is noticed by the others, so nothing depends on this.
  ~Agreement();
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Waits until all ranks are in; then each rank's GPU, in an order of its own. Nullopt: they
  // abstain, see verdict() and note().
  [[nodiscard]] std::optional<std::vector<std::optional<PciAddress>>> gather();

  // Says that this rank can apply `plan`, a digest of what it will decide, and waits for the
  // others. After `apply` the caller must not be able to fail: the others apply, too.
  [[nodiscard]] AgreementVerdict commit(std::uint64_t plan) noexcept;

  // Nobody shall apply. For a rank that is inert for a reason of its own: the others learn of it
  // at once, also before gather(), which it then need not call.
  void withdraw() noexcept;

  [[nodiscard]] AgreementVerdict verdict() const noexcept;
  // What refused, with the file and the cause; empty where nothing did.
  [[nodiscard]] std::string note() const;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

// The folder and the name of a communicator's segment, as an administrator sees it.
[[nodiscard]] std::string agreement_path(const AgreementRequest& request);

}  // namespace lanewise::host
