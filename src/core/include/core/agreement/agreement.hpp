// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// How the ranks of a communicator reach one verdict: a state machine over a `Board`, the shared
// memory (host/agreement.hpp) or a model of it (tests). Each step makes at most one access that
// another rank can see, so an exhaustive search over steps is one over all interleavings.
#include <cstdint>
#include <string_view>

namespace lanewise {

// Why a communicator applies or not. `unavailable` is of one rank: it took no part, so that the
// others run into their time limit. Everything but `pending` and `apply` is an abstention.
enum class AgreementVerdict : std::uint8_t {
  pending,
  apply,
  mismatch,
  timed_out,
  withdrawn,
  rank_died,
  unavailable
};
[[nodiscard]] std::string_view name_of(AgreementVerdict verdict) noexcept;

// The one word that decides. Every change is one compare-and-swap; a verdict never changes again.
struct AgreementWord {
  static constexpr int max_ranks = (1 << 14) - 1;  // arrived and ready share 28 of 32 bits

  AgreementVerdict verdict = AgreementVerdict::pending;
  int arrived = 0;  // ranks that are in
  int ready = 0;    // ranks that have all they need to apply
  friend bool operator==(const AgreementWord&, const AgreementWord&) = default;

  [[nodiscard]] constexpr bool is_decided() const noexcept {
    return verdict != AgreementVerdict::pending;
  }
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept {
    return static_cast<std::uint32_t>(verdict) << 28 | static_cast<std::uint32_t>(arrived) << 14 |
           static_cast<std::uint32_t>(ready);
  }
  [[nodiscard]] static constexpr AgreementWord from_bits(std::uint32_t bits) noexcept {
    return {static_cast<AgreementVerdict>(bits >> 28), static_cast<int>(bits >> 14 & max_ranks),
            static_cast<int>(bits & max_ranks)};
  }
};

// What Board::open and Board::publish found.
enum class BoardAnswer : std::uint8_t { done, missing, exists, refused };

// What weighs on a waiting rank: nothing, its time limit, or a rank that died.
enum class Pressure : std::uint8_t { none, expired, peer_died };

// What the caller does next: step again, sleep until the word changes and step again, build the
// plan and call propose() or withdraw(), or leave with the verdict.
enum class AgreementStep : std::uint8_t { again, wait, gathered, left };

enum class AgreementPhase : std::uint8_t {
  open,
  create,
  publish,
  inspect,
  judge,
  poison,
  replace,
  claim,
  fill,
  approach,
  unname,
  arrive,
  await_ranks,
  gathered,
  plan,
  approach_vote,
  vote,
  await_votes,
  abstain,
  left
};

// One rank's side; a value, so that a search can copy and compare it. `Board` offers:
//   open() -> done | missing | refused     the segment of this communicator's name
//   create(digest) -> bool                 a private one, this rank in slot 0 and arrived
//   publish() -> done | exists | refused   gives the private one the name, if it is free
//   load(), swap(word&, next) -> bool      the word; a failed swap stores what it found
//   claim(slot) -> bool, fill(slot, digest), digest(slot), set_plan(slot, plan), plan(slot)
//   is_abandoned() -> bool                 past its time limit, or a rank in it is dead
//   remove_name()                          frees the name, if it still means this segment
struct AgreementRank {
  // A stale segment is replaced this often before the rank gives up; bounds every path.
  static constexpr int max_rounds = 8;

  int ranks = 0;
  std::uint64_t digest = 0;
  std::uint64_t own_plan = 0;
  AgreementPhase phase = AgreementPhase::open;
  AgreementPhase resume = AgreementPhase::open;         // where a failed abstention goes on
  AgreementWord word;                                   // as last seen
  AgreementVerdict reason = AgreementVerdict::pending;  // of the abstention under way
  AgreementVerdict verdict = AgreementVerdict::pending;
  int slot = 0;
  int rounds = 0;
  friend bool operator==(const AgreementRank&, const AgreementRank&) = default;

  // After `gathered`: this rank can apply `plan`, and nothing that can fail is left to do.
  void propose(std::uint64_t plan) noexcept {
    own_plan = plan;
    phase = AgreementPhase::plan;
  }
  // After `gathered`: this rank cannot apply, so nobody shall.
  void withdraw() noexcept {
    reason = AgreementVerdict::withdrawn;
    resume = AgreementPhase::abstain;
    phase = AgreementPhase::abstain;
  }

  template <class Board>
  AgreementStep step(Board& board, Pressure pressure) {
    switch (phase) {
      case AgreementPhase::open:
      case AgreementPhase::create:
      case AgreementPhase::publish:
        return find_segment(board);
      case AgreementPhase::inspect:
      case AgreementPhase::judge:
      case AgreementPhase::poison:
      case AgreementPhase::replace:
        return examine(board);
      case AgreementPhase::claim:
      case AgreementPhase::fill:
      case AgreementPhase::approach:
      case AgreementPhase::unname:
      case AgreementPhase::arrive:
        return count_in(board);
      case AgreementPhase::await_ranks:
      case AgreementPhase::await_votes:
        return await(board, pressure);
      case AgreementPhase::plan:
      case AgreementPhase::approach_vote:
      case AgreementPhase::vote:
        return cast_vote(board);
      case AgreementPhase::abstain:
        return swap_to_abstain(board);
      case AgreementPhase::gathered:
        return AgreementStep::gathered;
      case AgreementPhase::left:
        break;
    }
    return AgreementStep::left;
  }

 private:
  AgreementStep go(AgreementPhase next) noexcept {
    phase = next;
    return AgreementStep::again;
  }
  AgreementStep leave(AgreementVerdict result) noexcept {
    verdict = result;
    phase = AgreementPhase::left;
    return AgreementStep::left;
  }

  template <class Board>
  AgreementStep find_segment(Board& board) {
    if (phase == AgreementPhase::open) {
      if (rounds++ == max_rounds) return leave(AgreementVerdict::unavailable);
      const auto answer = board.open();
      if (answer == BoardAnswer::refused) return leave(AgreementVerdict::unavailable);
      return go(answer == BoardAnswer::done ? AgreementPhase::inspect : AgreementPhase::create);
    }
    if (phase == AgreementPhase::create)
      return board.create(digest) ? go(AgreementPhase::publish)
                                  : leave(AgreementVerdict::unavailable);
    const auto answer = board.publish();
    if (answer == BoardAnswer::refused) return leave(AgreementVerdict::unavailable);
    slot = 0;
    return go(answer == BoardAnswer::done ? AgreementPhase::await_ranks : AgreementPhase::open);
  }

  // A rank enters an open segment, learns from a decided one of its own communicator, and clears
  // away one that was left behind. After it has claimed a slot it leaves by verdict only.
  template <class Board>
  AgreementStep examine(Board& board) {
    if (phase == AgreementPhase::inspect) {
      word = board.load();
      return go(word.arrived >= ranks ? AgreementPhase::poison : AgreementPhase::judge);
    }
    if (phase == AgreementPhase::judge) {
      if (board.is_abandoned()) return go(AgreementPhase::poison);
      slot = 1;
      return go(word.is_decided() ? AgreementPhase::approach : AgreementPhase::claim);
    }
    if (phase == AgreementPhase::poison) {
      auto poisoned = word;
      if (!word.is_decided()) poisoned.verdict = AgreementVerdict::rank_died;
      if (word.is_decided() || board.swap(word, poisoned)) return go(AgreementPhase::replace);
      return go(AgreementPhase::inspect);
    }
    board.remove_name();
    return go(AgreementPhase::open);
  }

  // The name goes before the last rank counts: nobody can be through with this communicator, and
  // come back under the same name, before it is free.
  template <class Board>
  AgreementStep count_in(Board& board) {
    if (phase == AgreementPhase::claim) {
      if (board.claim(slot)) return go(AgreementPhase::fill);
      return go(++slot < ranks ? AgreementPhase::claim : AgreementPhase::poison);
    }
    if (phase == AgreementPhase::fill) {
      board.fill(slot, digest);
      return go(AgreementPhase::approach);
    }
    if (phase == AgreementPhase::approach) {
      word = board.load();
      return go(word.arrived + 1 >= ranks ? AgreementPhase::unname : AgreementPhase::arrive);
    }
    if (phase == AgreementPhase::unname) {
      board.remove_name();
      return go(AgreementPhase::arrive);
    }
    auto next = word;
    ++next.arrived;
    if (!word.is_decided() && board.digest(0) != digest) next.verdict = AgreementVerdict::mismatch;
    if (!board.swap(word, next)) return go(AgreementPhase::approach);
    return next.is_decided() ? leave(next.verdict) : go(AgreementPhase::await_ranks);
  }

  template <class Board>
  AgreementStep await(Board& board, Pressure pressure) {
    word = board.load();
    if (word.is_decided()) return leave(word.verdict);
    if (phase == AgreementPhase::await_ranks && word.arrived >= ranks) {
      phase = AgreementPhase::gathered;
      return AgreementStep::gathered;
    }
    if (pressure == Pressure::none) return AgreementStep::wait;
    reason =
        pressure == Pressure::expired ? AgreementVerdict::timed_out : AgreementVerdict::rank_died;
    resume = phase;
    return go(AgreementPhase::abstain);
  }

  template <class Board>
  AgreementStep cast_vote(Board& board) {
    if (phase == AgreementPhase::plan) {
      board.set_plan(slot, own_plan);
      return go(AgreementPhase::approach_vote);
    }
    if (phase == AgreementPhase::approach_vote) {
      word = board.load();
      return word.is_decided() ? leave(word.verdict) : go(AgreementPhase::vote);
    }
    auto next = word;
    if (++next.ready >= ranks) {
      next.verdict = AgreementVerdict::apply;
      for (int other = 0; other < ranks; ++other)
        if (board.plan(other) != own_plan) next.verdict = AgreementVerdict::mismatch;
    }
    if (!board.swap(word, next)) return go(AgreementPhase::approach_vote);
    return next.is_decided() ? leave(next.verdict) : go(AgreementPhase::await_votes);
  }

  template <class Board>
  AgreementStep swap_to_abstain(Board& board) {
    auto next = word;
    next.verdict = reason;
    if (board.swap(word, next)) return leave(reason);
    return word.is_decided() ? leave(word.verdict) : go(resume);
  }
};

}  // namespace lanewise
