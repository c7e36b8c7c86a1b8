// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "agreement_shm.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <new>

#include "host/process/process_identity.hpp"
#include "machine/pci_word.hpp"

namespace lanewise::host {
namespace {

// "lanewise" and the layout's number: another layout is another segment.
constexpr std::uint64_t segment_magic = 0x6c616e6577697300 + 1;

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

ShmBoard::ShmBoard(const AgreementRequest& request)
    : request_(request),
      file_(agreement_path(request),
            sizeof(SegmentHeader) + static_cast<std::size_t>(request.ranks) * sizeof(SegmentSlot)) {
}

SegmentSlot& ShmBoard::slot_at(int slot) const noexcept {
  return reinterpret_cast<SegmentSlot*>(&header() + 1)[slot];
}

bool ShmBoard::is_ours() const noexcept {
  return header().magic == segment_magic && header().communicator == request_.communicator &&
         header().ranks == static_cast<std::uint32_t>(request_.ranks);
}

// This user's file of another size or layout is what another release left; it is replaced.
BoardAnswer ShmBoard::open() noexcept {
  const auto answer = file_.open();
  if (answer == FileAnswer::missing) return BoardAnswer::missing;
  if (answer == FileAnswer::refused) return BoardAnswer::refused;
  if (answer == FileAnswer::done && is_ours()) return BoardAnswer::done;
  remove_name();
  return BoardAnswer::missing;
}

bool ShmBoard::create(std::uint64_t digest) noexcept {
  if (file_.create() != FileAnswer::done) return false;
  auto* made = new (file_.memory()) SegmentHeader{};
  made->communicator = request_.communicator;
  made->ranks = static_cast<std::uint32_t>(request_.ranks);
  made->deadline_ns =
      monotonic_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(request_.limit).count());
  made->word = AgreementWord{AgreementVerdict::pending, 1, 0}.bits();
  made->magic = segment_magic;
  if (!claim(0)) return false;
  fill(0, digest);
  return true;
}

BoardAnswer ShmBoard::publish() noexcept {
  const auto answer = file_.publish();
  if (answer == FileAnswer::done) return BoardAnswer::done;
  return answer == FileAnswer::exists ? BoardAnswer::exists : BoardAnswer::refused;
}

AgreementWord ShmBoard::load() const noexcept {
  return AgreementWord::from_bits(header().word.load());
}

bool ShmBoard::swap(AgreementWord& expected, AgreementWord next) noexcept {
  auto bits = expected.bits();
  auto& word = header().word;
  if (!word.compare_exchange_strong(bits, next.bits())) {
    expected = AgreementWord::from_bits(bits);
    return false;
  }
  // Nothing else is worth waking for: with 64 ranks each arrival would wake all before it.
  const bool is_awaited = next.is_decided() || (next.arrived == request_.ranks && next.ready == 0);
  if (is_awaited) syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return true;
}

bool ShmBoard::claim(int slot) noexcept {
  const auto self = this_process();
  std::uint64_t free = 0;
  if (!slot_at(slot).owner.compare_exchange_strong(free, self.word())) return false;
  slot_at(slot).pid_namespace = self.pid_namespace;
  return true;
}

void ShmBoard::fill(int slot, std::uint64_t digest) noexcept {
  slot_at(slot).gpu = to_word(request_.gpu);
  slot_at(slot).digest = digest;
}

std::uint64_t ShmBoard::digest(int slot) const noexcept { return slot_at(slot).digest; }

void ShmBoard::set_plan(int slot, std::uint64_t plan) noexcept { slot_at(slot).plan = plan; }

std::uint64_t ShmBoard::plan(int slot) const noexcept { return slot_at(slot).plan; }

std::optional<PciAddress> ShmBoard::gpu(int slot) const noexcept {
  return to_address(slot_at(slot).gpu.load());
}

bool ShmBoard::is_abandoned() const noexcept {
  return monotonic_ns() >= header().deadline_ns || has_dead_rank();
}

bool ShmBoard::has_dead_rank() const noexcept {
  for (int slot = 0; slot < request_.ranks; ++slot) {
    const std::uint64_t owner = slot_at(slot).owner;
    const auto process = ProcessIdentity::from_word(owner, slot_at(slot).pid_namespace);
    if (owner != 0 && liveness_of(process) == Liveness::dead) return true;
  }
  return false;
}

void ShmBoard::remove_name() noexcept {
  if (file_.identity()) remove_shared_file(file_.path(), *file_.identity());
}

void ShmBoard::wait(AgreementWord seen, std::chrono::nanoseconds limit) const noexcept {
  constexpr long a_second = 1'000'000'000;
  const timespec time{static_cast<time_t>(limit.count() / a_second),
                      static_cast<long>(limit.count() % a_second)};
  if (syscall(SYS_futex, &header().word, FUTEX_WAIT, seen.bits(), &time, nullptr, 0) == 0) return;
  // Where a sandbox has no futex for shared memory, look again after a short sleep.
  if (errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) return;
  constexpr timespec short_sleep{0, 500'000};
  nanosleep(&short_sleep, nullptr);
}

}  // namespace lanewise::host
