// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/agreement/agreement.hpp"

#include <algorithm>
#include <utility>

#include "agreement_shm.hpp"

namespace lanewise::host {
namespace {

// How often a waiting rank looks whether another one died; a killed rank costs the others this.
constexpr std::chrono::milliseconds liveness_interval{50};

}  // namespace

struct Agreement::Session {
  explicit Session(AgreementRequest wanted) : request(std::move(wanted)), board(request) {
    rank.ranks = request.ranks;
    rank.digest = request.digest;
  }

  // Steps until there is something for the caller to do; sleeps in between where ranks are awaited.
  AgreementStep drive() noexcept {
    const auto deadline_ns = monotonic_ns() + static_cast<std::uint64_t>(
                                                  std::chrono::nanoseconds(request.limit).count());
    auto pressure = Pressure::none;
    for (;;) {
      const auto step = rank.step(board, pressure);
      if (step == AgreementStep::again) continue;
      if (step != AgreementStep::wait) return step;
      pressure = wait(deadline_ns);
    }
  }

  Pressure wait(std::uint64_t deadline_ns) noexcept {
    const auto now_ns = monotonic_ns();
    if (now_ns >= deadline_ns) return Pressure::expired;
    const std::chrono::nanoseconds left(deadline_ns - now_ns);
    const auto before = board.load();
    board.wait(rank.word, std::min<std::chrono::nanoseconds>(left, liveness_interval));
    const bool was_idle = board.load() == before && before == rank.word;
    return was_idle && board.has_dead_rank() ? Pressure::peer_died : Pressure::none;
  }

  // Without waiting for anybody: up to where this rank can speak for itself.
  void drive_to_the_word() noexcept {
    while (rank.step(board, Pressure::none) == AgreementStep::again) {
    }
  }

  [[nodiscard]] bool is_over() const noexcept { return rank.phase == AgreementPhase::left; }

  AgreementRequest request;
  ShmBoard board;
  AgreementRank rank;
};

Agreement::Agreement(AgreementRequest request)
    : session_(std::make_unique<Session>(std::move(request))) {}

Agreement::~Agreement() {
  if (session_->rank.phase != AgreementPhase::open) withdraw();
  if (session_->rank.verdict != AgreementVerdict::apply) session_->board.remove_name();
}

std::optional<std::vector<std::optional<PciAddress>>> Agreement::gather() {
  std::vector<std::optional<PciAddress>> gpus(static_cast<std::size_t>(session_->request.ranks));
  sweep_segments(session_->request.folder, monotonic_ns());
  if (session_->drive() != AgreementStep::gathered) {
    session_->board.release();
    return std::nullopt;
  }
  for (std::size_t slot = 0; slot < gpus.size(); ++slot)
    gpus[slot] = session_->board.gpu(static_cast<int>(slot));
  return gpus;
}

AgreementVerdict Agreement::commit(std::uint64_t plan) noexcept {
  if (session_->rank.phase == AgreementPhase::gathered) {
    session_->rank.propose(plan);
    (void)session_->drive();
    session_->board.release();
  }
  return verdict();
}

void Agreement::withdraw() noexcept {
  if (session_->is_over()) return;
  session_->drive_to_the_word();
  if (!session_->is_over()) {
    session_->rank.withdraw();
    (void)session_->drive();
  }
  session_->board.release();
}

AgreementVerdict Agreement::verdict() const noexcept { return session_->rank.verdict; }

std::string Agreement::note() const { return session_->board.note(); }

}  // namespace lanewise::host
