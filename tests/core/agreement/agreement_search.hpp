// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// An exhaustive search over the interleavings of the real state machine: every reachable state of
// a scenario, with time limits that may run out anywhere and faults anywhere.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "agreement_model.hpp"

namespace lanewise::model {

class Search {
 public:
  explicit Search(const Scenario& scenario) : scenario_(scenario) {}

  Findings run() {
    World start;
    start.faults_left = scenario_.faults;
    for (std::size_t i = 0; i < scenario_.ranks; ++i) start.processes.push_back(fresh(i));
    if (scenario_.leftover) {
      start.segments.push_back(*scenario_.leftover);
      start.name = 0;
    }
    push(std::move(start));
    while (!pending_.empty() && findings_.violation.empty()) {
      const World world = std::move(pending_.back());
      pending_.pop_back();
      expand(world);
    }
    return findings_;
  }

 private:
  [[nodiscard]] Process fresh(std::size_t index) const {
    Process process;
    process.rank.ranks = static_cast<int>(scenario_.ranks);
    process.rank.digest = scenario_.digests[index];
    process.rank.own_plan = scenario_.plans[index];
    return process;
  }

  // Forgets what no later step reads, and the reason of an abstention: fewer states, same answers.
  static void forget(Process& process) {
    auto& rank = process.rank;
    constexpr std::array reads_word = {AgreementPhase::judge,  AgreementPhase::poison,
                                       AgreementPhase::claim,  AgreementPhase::unname,
                                       AgreementPhase::arrive, AgreementPhase::vote,
                                       AgreementPhase::abstain};
    if (std::find(reads_word.begin(), reads_word.end(), rank.phase) == reads_word.end())
      rank.word = {};
    blur(rank.word.verdict);
    blur(rank.verdict);
    rank.rounds = 0;
    if (rank.phase == AgreementPhase::abstain) {
      rank.reason = AgreementVerdict::timed_out;
    } else {
      rank.reason = AgreementVerdict::pending;
      rank.resume = AgreementPhase::open;
    }
    if (!process.has_slot && rank.phase != AgreementPhase::claim) rank.slot = 0;
    if (process.is_alive && rank.phase != AgreementPhase::left) return;
    process.segment.reset();
    if (!process.is_alive) rank = {.ranks = rank.ranks, .phase = AgreementPhase::open};
  }

  static void blur(AgreementVerdict& verdict) {
    if (verdict > AgreementVerdict::apply) verdict = AgreementVerdict::timed_out;
  }

  // Drops segments that nobody can reach any more, renumbers the others in a fixed order and sorts
  // the processes: ranks are interchangeable.
  static void normalise(World& world) {
    for (auto& process : world.processes) forget(process);
    std::sort(world.processes.begin(), world.processes.end(),
              [](const Process& a, const Process& b) { return a.key() < b.key(); });
    std::vector<std::optional<std::size_t>> moved(world.segments.size());
    std::vector<Segment> kept;
    const auto keep = [&](std::optional<std::size_t>& segment) {
      if (!segment) return;
      if (!moved[*segment]) {
        moved[*segment] = kept.size();
        kept.push_back(world.segments[*segment]);
        blur(kept.back().word.verdict);
      }
      segment = moved[*segment];
    };
    keep(world.name);
    for (auto& process : world.processes) keep(process.segment);
    world.segments = std::move(kept);
  }

  static std::array<std::uint64_t, 2> fingerprint_of(const World& world) {
    std::array<std::uint64_t, 2> hash = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9};
    const auto add = [&](std::uint64_t number) {
      hash[0] = (hash[0] ^ number) * 0xff51afd7ed558ccd;
      hash[0] ^= hash[0] >> 32;
      hash[1] = (hash[1] + number) * 0xc4ceb9fe1a85ec53;
      hash[1] ^= hash[1] >> 29;
    };
    add((world.name ? *world.name + 1 : 0) << 16 |
        static_cast<std::uint64_t>(world.faults_left << 8 | world.generation));
    for (const auto& process : world.processes)
      for (const auto part : process.key()) add(part);
    for (const auto& segment : world.segments) {
      add(segment.word.bits());
      std::uint64_t slots = 0;
      for (const auto& slot : segment.slots)
        slots = slots << 16 |
                static_cast<std::uint64_t>(slot.digest << 8 | slot.plan << 4 |
                                           (slot.is_claimed ? 2 : 0) | (slot.is_dead ? 1 : 0));
      add(slots);
    }
    return hash;
  }

  struct Hash {
    std::size_t operator()(const std::array<std::uint64_t, 2>& key) const { return key[0]; }
  };

  void push(World world) {
    normalise(world);
    if (!seen_.insert(fingerprint_of(world)).second) return;
    ++findings_.states;
    pending_.push_back(std::move(world));
  }

  void expand(const World& world) {
    check(world);
    bool is_over = true;
    for (std::size_t i = 0; i < world.processes.size(); ++i) {
      const auto& process = world.processes[i];
      if (!process.is_alive || process.is_in(AgreementPhase::left)) continue;
      is_over = false;
      advance(world, i, Pressure::none);
      if (scenario_.limit == Limit::may_run_out) advance(world, i, Pressure::expired);
      if (world.faults_left > 0) fail(world, i);
      check_leaves_alone(world, i);
    }
    if (is_over) finish(world);
  }

  void advance(World world, std::size_t self, Pressure pressure) {
    auto& rank = world.processes[self].rank;
    if (rank.phase == AgreementPhase::gathered) {
      rank.propose(rank.own_plan);
    } else {
      ModelBoard board{world, self, scenario_.swap, false, pressure == Pressure::expired};
      rank.step(board, pressure);
    }
    push(std::move(world));
  }

  // The one fault: killed here, shared memory refused here, or the plan cannot be built.
  void fail(World world, std::size_t self) {
    --world.faults_left;
    auto& process = world.processes[self];
    if (process.rank.phase <= AgreementPhase::publish) {
      World refusing = world;
      ModelBoard board{refusing, self, scenario_.swap, true};
      refusing.processes[self].rank.step(board, Pressure::none);
      push(std::move(refusing));
    }
    if (process.is_in(AgreementPhase::gathered)) {
      World withdrawn = world;
      withdrawn.processes[self].rank.withdraw();
      push(std::move(withdrawn));
    }
    process.is_alive = false;
    if (process.has_slot)
      ModelBoard{world, self, scenario_.swap}.slot_at(process.rank.slot).is_dead = true;
    push(std::move(world));
  }

  // Nobody waits for ever: from any state, a rank left to itself, its limit over, soon leaves.
  void check_leaves_alone(World world, std::size_t self) {
    constexpr int plenty = 200;
    for (int step = 0; step < plenty; ++step) {
      auto& rank = world.processes[self].rank;
      if (rank.phase == AgreementPhase::left) return;
      if (rank.phase == AgreementPhase::gathered) rank.propose(rank.own_plan);
      ModelBoard board{world, self, scenario_.swap};
      rank.step(board, scenario_.limit == Limit::is_ignored ? Pressure::none : Pressure::expired);
    }
    if (scenario_.limit != Limit::never_runs_out) findings_.violation = "a rank waits for ever";
  }

  void check(const World& world) {
    bool has_applied = false;
    bool has_abstained = false;
    for (const auto& process : world.processes) {
      if (!process.is_alive || !process.is_in(AgreementPhase::left)) continue;
      (process.rank.verdict == AgreementVerdict::apply ? has_applied : has_abstained) = true;
    }
    if (has_applied && has_abstained) findings_.violation = "ranks left with different verdicts";
  }

  // Everyone is out: count the outcome, and let the next communicator of the same name begin, a new
  // process in the place of a dead one.
  void finish(const World& world) {
    const bool is_last = world.generation + 1 == scenario_.generations;
    const auto applies = [](const Process& process) {
      return !process.is_alive || process.rank.verdict == AgreementVerdict::apply;
    };
    if (is_last)
      ++(std::all_of(world.processes.begin(), world.processes.end(), applies)
             ? findings_.applied
             : findings_.abstained);
    if (is_last) return;
    World next = world;
    ++next.generation;
    for (std::size_t i = 0; i < next.processes.size(); ++i) next.processes[i] = fresh(i);
    push(std::move(next));
  }

  Scenario scenario_;
  std::vector<World> pending_;
  std::unordered_set<std::array<std::uint64_t, 2>, Hash> seen_;
  Findings findings_;
};

inline Findings search(const Scenario& scenario) { return Search(scenario).run(); }

}  // namespace lanewise::model
