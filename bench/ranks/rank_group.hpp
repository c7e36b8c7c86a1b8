// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A set of ranks with an environment of their own, driven from a process without CUDA: fresh
// processes of this program, one per rank or one for all of them as threads.
#include <chrono>
#include <nlohmann/json.hpp>
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
  std::string job;  // of joined ranks, see JoinedRanks
};

// A rank died, failed or hung: what() names the rank and what it was doing. The rank_group is gone.
class RankFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Not movable: the children hold its shared block.
class RankGroup {
 public:
  // Starts the ranks; they wait for the first request. Throws std::runtime_error.
  explicit RankGroup(RankGroupPlan plan);
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;
  // Asks the ranks to end; kills those that do not within 10 s.
  ~RankGroup();

  // Runs `operation` (see session.hpp) on all ranks; rank 0's answer. Throws RankFailure within
  // the plan's timeout, after killing every rank.
  nlohmann::json call(std::string_view operation, const nlohmann::json& request);

  // Ends the ranks at once: a clean end takes seconds, which not every caller needs.
  void kill() noexcept { kill_all(); }

  [[nodiscard]] const RankGroupPlan& plan() const noexcept { return plan_; }

 private:
  struct Child {
    int pid = 0;
    int first_rank = 0;
    int rank_count = 0;
  };

  void spawn(const Child& place);
  void join();
  void wait_for_the_end() noexcept;
  void send(std::string_view operation, const nlohmann::json& request);
  void throw_if_dead();
  [[noreturn]] void fail(const std::string& cause);
  [[nodiscard]] std::string describe(int rank) const;
  [[nodiscard]] std::string describe_laggards() const;
  [[nodiscard]] bool all_ended_within(std::chrono::milliseconds limit) noexcept;
  void kill_all() noexcept;

  RankGroupPlan plan_;
  SharedBlock block_;
  std::vector<Child> children_;  // none where ranks are joined
  bool is_running_ = false;
};

}  // namespace lanewise::bench
