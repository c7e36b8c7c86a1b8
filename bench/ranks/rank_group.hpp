// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A set of ranks with an environment of their own, driven from a process without CUDA: fresh
// processes of this program, one per rank or one for all of them as threads.
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/profile.hpp"
#include "shared_block.hpp"

namespace lanewise::bench {

// joined: the processes that mpirun or torchrun has started, this one among them.
enum class RankKind : std::uint8_t { processes, threads, joined };

struct RankGroupPlan {
  std::string label;  // for messages: "stock"
  int ranks = 0;
  RankKind kind = RankKind::processes;
  Environment variables;  // beside what this process has; an empty value unsets
  std::chrono::seconds timeout{60};
  std::string job;         // of joined ranks, see JoinedRanks
  nlohmann::json opening;  // the request "open" that makes the communicators
};

// A rank died, failed or hung: what() names the rank and what it was doing. Its group is gone.
class RankFailure : public std::runtime_error {
 public:
  explicit RankFailure(const std::string& text, std::optional<int> failed_in = std::nullopt)
      : std::runtime_error(text), candidate(failed_in) {}
  std::optional<int> candidate;  // Candidate::id of the one that it was running, if any
};

// Not movable: the children hold its shared block.
class RankGroup {
 public:
  // Starts the ranks and makes their communicators. Throws std::runtime_error.
  explicit RankGroup(RankGroupPlan plan);
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;
  // Asks the ranks to end; kills those that do not within 10 s.
  ~RankGroup();

  // Runs `operation` (see session.hpp) on all ranks; rank 0's answer. Throws RankFailure, after
  // killing every rank, where one dies or none has gone on within the plan's timeout.
  nlohmann::json call(std::string_view operation, const nlohmann::json& request);

  // Fresh processes in place of those that failed. Throws RankFailure for joined ranks.
  void start_afresh_if_gone();
  // How often ranks were started; and whether those of a start, 1 or later, still run.
  [[nodiscard]] int starts() const noexcept { return starts_; }
  [[nodiscard]] bool has_started(int start) const noexcept {
    return is_running_ && start == starts_;
  }

  // Ends the ranks at once: a clean end takes seconds, which not every caller needs.
  void kill() noexcept { kill_all(); }

  // NCCL's variables and Lanewise's, as the ranks have them.
  [[nodiscard]] Environment environment() const;

 private:
  struct Child {
    int pid = 0;
    int first_rank = 0;
    int rank_count = 0;
  };

  void start();
  void spawn(const Child& place);
  void join();
  void wait_for_the_end() noexcept;
  void send(std::string_view operation, const nlohmann::json& request);
  void throw_if_dead();
  [[noreturn]] void fail(const std::string& cause, int rank);
  [[nodiscard]] BlockLayout& block() const noexcept { return shared_->layout(); }
  [[nodiscard]] std::string describe(int rank) const;
  [[nodiscard]] std::uint64_t progress_of_all() const;
  [[nodiscard]] std::vector<int> find_laggards() const;
  [[nodiscard]] std::string describe(const std::vector<int>& laggards) const;
  [[nodiscard]] bool all_ended_within(std::chrono::milliseconds limit) noexcept;
  void kill_all() noexcept;

  RankGroupPlan plan_;
  std::unique_ptr<SharedBlock> shared_;
  std::vector<Child> children_;  // none where ranks are joined
  bool is_running_ = false;
  int starts_ = 0;
  std::string end_;  // how the ranks failed, if they did
};

}  // namespace lanewise::bench
