// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A world of ranks, shared segments and the one name, as the agreement's state machine sees it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/agreement/agreement.hpp"

namespace lanewise::model {

constexpr std::size_t most_ranks = 4;

struct Slot {
  bool is_claimed = false;
  bool is_dead = false;
  std::uint8_t digest = 0;
  std::uint8_t plan = 0;
};

struct Segment {
  AgreementWord word;
  std::array<Slot, most_ranks> slots;
};

struct Process {
  AgreementRank rank;
  std::optional<std::size_t> segment;
  bool is_alive = true;
  bool has_slot = false;

  [[nodiscard]] bool is_in(AgreementPhase phase) const { return rank.phase == phase; }
  [[nodiscard]] std::array<std::uint64_t, 2> key() const {
    return {
        static_cast<std::uint64_t>(rank.word.bits()) << 32 |
            static_cast<std::uint64_t>(rank.phase) << 16 |
            static_cast<std::uint64_t>(rank.resume) << 8 | static_cast<std::uint64_t>(rank.slot),
        static_cast<std::uint64_t>(rank.verdict) << 48 | rank.digest << 40 | rank.own_plan << 32 |
            (segment ? *segment + 1 : 0) << 16 | (is_alive ? 2U : 0U) | (has_slot ? 1U : 0U)};
  }
};

struct World {
  std::vector<Process> processes;
  std::vector<Segment> segments;
  std::optional<std::size_t> name;
  int faults_left = 0;
  int generation = 0;
};

enum class Swap { compares, overwrites };

// The board of process `self`, over a world that the search owns.
struct ModelBoard {
  World& world;
  std::size_t self;
  Swap kind = Swap::compares;
  bool is_refusing = false;
  bool is_past_its_limit = false;

  Process& process() { return world.processes[self]; }
  Segment& segment() { return world.segments[*process().segment]; }

  BoardAnswer open() {
    if (is_refusing) return BoardAnswer::refused;
    process().segment = world.name;
    process().has_slot = false;
    return world.name ? BoardAnswer::done : BoardAnswer::missing;
  }
  bool create(std::uint64_t digest) {
    if (is_refusing) return false;
    Segment made;
    made.word.arrived = 1;
    made.slots[0] = {true, false, static_cast<std::uint8_t>(digest), 0};
    process().has_slot = true;
    process().segment = world.segments.size();
    world.segments.push_back(made);
    return true;
  }
  BoardAnswer publish() {
    if (is_refusing) return BoardAnswer::refused;
    if (world.name) return BoardAnswer::exists;
    world.name = process().segment;
    return BoardAnswer::done;
  }
  AgreementWord load() { return segment().word; }
  bool swap(AgreementWord& expected, AgreementWord next) {
    if (kind == Swap::compares && segment().word != expected) {
      expected = segment().word;
      return false;
    }
    segment().word = next;
    return true;
  }
  bool claim(int slot) {
    if (slot_at(slot).is_claimed) return false;
    slot_at(slot).is_claimed = true;
    process().has_slot = true;
    return true;
  }
  Slot& slot_at(int slot) { return segment().slots[static_cast<std::size_t>(slot)]; }
  void fill(int slot, std::uint64_t digest) {
    slot_at(slot).digest = static_cast<std::uint8_t>(digest);
  }
  std::uint64_t digest(int slot) { return slot_at(slot).digest; }
  void set_plan(int slot, std::uint64_t plan) {
    slot_at(slot).plan = static_cast<std::uint8_t>(plan);
  }
  std::uint64_t plan(int slot) { return slot_at(slot).plan; }
  bool is_abandoned() {
    return is_past_its_limit ||
           std::any_of(segment().slots.begin(), segment().slots.end(),
                       [](const Slot& slot) { return slot.is_claimed && slot.is_dead; });
  }
  void remove_name() {
    if (world.name == process().segment) world.name.reset();
  }
};

enum class Limit { may_run_out, never_runs_out, is_ignored };

struct Scenario {
  std::size_t ranks = 2;
  int generations = 1;
  int faults = 0;  // crashes, refusals and withdrawals, in all
  Limit limit = Limit::may_run_out;
  std::array<std::uint64_t, most_ranks> digests{1, 1, 1, 1};
  std::array<std::uint64_t, most_ranks> plans{1, 1, 1, 1};
  Swap swap = Swap::compares;
  std::optional<Segment> leftover;
};

struct Findings {
  std::size_t states = 0;
  std::size_t applied = 0;
  std::size_t abstained = 0;
  std::string violation;
};

}  // namespace lanewise::model
