// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "agreement_shm.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <system_error>

#include "host/process_identity.hpp"

namespace lanewise::host {
namespace {

// "lanewise" and the layout's number: another layout is another segment.
constexpr std::uint64_t segment_magic = 0x6c616e6577697300 + 1;
constexpr mode_t private_to_user = 0600;
constexpr int open_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
// A private name is taken only where another pid namespace shares the folder.
constexpr int private_name_attempts = 16;
constexpr std::size_t private_suffix_space = 64;
constexpr std::uint64_t gpu_is_known = std::uint64_t{1} << 63;

std::uint64_t pack(const std::optional<PciAddress>& gpu) noexcept {
  if (!gpu) return 0;
  return gpu_is_known | std::uint64_t{gpu->domain} << 24 | std::uint64_t{gpu->bus} << 16 |
         std::uint64_t{gpu->device} << 8 | gpu->function;
}

std::optional<PciAddress> unpack(std::uint64_t packed) noexcept {
  if ((packed & gpu_is_known) == 0) return std::nullopt;
  return PciAddress{static_cast<std::uint32_t>(packed >> 24),
                    static_cast<std::uint8_t>(packed >> 16), static_cast<std::uint8_t>(packed >> 8),
                    static_cast<std::uint8_t>(packed)};
}

std::uint64_t owner_word(const ProcessIdentity& process) noexcept {
  return std::uint64_t{process.start} << 32 | process.pid;
}

SegmentHeader& header_of(void* memory) noexcept { return *static_cast<SegmentHeader*>(memory); }

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

ShmBoard::ShmBoard(const AgreementRequest& request)
    : request_(request), path_(agreement_path(request)) {
  private_path_.reserve(path_.size() + private_suffix_space);
}

ShmBoard::~ShmBoard() { release(); }

void ShmBoard::release() noexcept {
  drop_private();
  if (memory_ != nullptr) munmap(memory_, size_bytes());
  if (file_ >= 0) close(file_);
  memory_ = nullptr;
  file_ = -1;
}

void ShmBoard::drop_private() noexcept {
  if (has_private_) unlink(private_path_.c_str());
  has_private_ = false;
}

void ShmBoard::refuse(const char* action, int error) noexcept {
  refused_action_ = action;
  refused_error_ = error;
}

std::string ShmBoard::note() const {
  if (refused_action_ == nullptr) return {};
  return path_ + ": " + refused_action_ + ": " + std::generic_category().message(refused_error_);
}

std::size_t ShmBoard::size_bytes() const noexcept {
  return sizeof(SegmentHeader) + static_cast<std::size_t>(request_.ranks) * sizeof(SegmentSlot);
}

SegmentSlot& ShmBoard::slot_at(int slot) const noexcept {
  return reinterpret_cast<SegmentSlot*>(static_cast<SegmentHeader*>(memory_) + 1)[slot];
}

bool ShmBoard::map() noexcept {
  void* memory = mmap(nullptr, size_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {
    refuse("mapping it", errno);
    return false;
  }
  memory_ = memory;
  return true;
}

// Ours but of another size or layout is what another release left; it is replaced.
ShmBoard::Check ShmBoard::check_file() noexcept {
  struct stat status {};
  if (fstat(file_, &status) != 0) return Check::foreign;
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return Check::foreign;
  identity_ = FileIdentity{status.st_dev, status.st_ino};
  return static_cast<std::size_t>(status.st_size) == size_bytes() ? Check::ours : Check::damaged;
}

BoardAnswer ShmBoard::open() noexcept {
  release();
  file_ = ::open(path_.c_str(), O_RDWR | open_flags);
  if (file_ < 0) {
    if (errno == ENOENT) return BoardAnswer::missing;
    refuse("opening it", errno);
    return BoardAnswer::refused;
  }
  const auto check = check_file();
  if (check == Check::foreign) {
    refuse("it must be this user's own file of mode 0600", EPERM);
    return BoardAnswer::refused;
  }
  if (check == Check::ours && !map()) return BoardAnswer::refused;
  if (check == Check::ours && header_of(memory_).magic == segment_magic &&
      header_of(memory_).communicator == request_.communicator &&
      header_of(memory_).ranks == static_cast<std::uint32_t>(request_.ranks))
    return BoardAnswer::done;
  remove_name();
  release();
  return BoardAnswer::missing;
}

int ShmBoard::open_private() noexcept {
  for (int attempt = 0; attempt < private_name_attempts; ++attempt) {
    char suffix[private_suffix_space];
    std::snprintf(suffix, sizeof suffix, ".%d.%ld.%d", getpid(), syscall(SYS_gettid), attempt);
    private_path_.assign(path_).append(suffix);
    const int file =
        ::open(private_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | open_flags, private_to_user);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

bool ShmBoard::create(std::uint64_t digest) noexcept {
  release();
  file_ = open_private();
  if (file_ < 0) {
    refuse("creating it", errno);
    return false;
  }
  has_private_ = true;
  fchmod(file_, private_to_user);  // a umask may have taken the owner's own bits away
  // Without it, touching memory that a full file system cannot give is a bus error.
  if (const int error = posix_fallocate(file_, 0, static_cast<off_t>(size_bytes())); error != 0) {
    refuse("reserving its space", error);
    return false;
  }
  if (check_file() != Check::ours) {
    refuse("creating it", EIO);
    return false;
  }
  if (!map()) return false;
  auto* header = new (memory_) SegmentHeader{};
  header->communicator = request_.communicator;
  header->ranks = static_cast<std::uint32_t>(request_.ranks);
  header->deadline_ns =
      monotonic_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(request_.limit).count());
  header->word = AgreementWord{AgreementVerdict::pending, 1, 0}.bits();
  header->magic = segment_magic;
  if (!claim(0)) return false;
  fill(0, digest);
  return true;
}

BoardAnswer ShmBoard::publish() noexcept {
  const int result = link(private_path_.c_str(), path_.c_str());
  const int error = errno;
  drop_private();
  if (result == 0) return BoardAnswer::done;
  if (error == EEXIST) return BoardAnswer::exists;
  refuse("giving it its name", error);
  return BoardAnswer::refused;
}

AgreementWord ShmBoard::load() const noexcept {
  return AgreementWord::from_bits(header_of(memory_).word.load());
}

bool ShmBoard::swap(AgreementWord& expected, AgreementWord next) noexcept {
  auto bits = expected.bits();
  auto& word = header_of(memory_).word;
  if (!word.compare_exchange_strong(bits, next.bits())) {
    expected = AgreementWord::from_bits(bits);
    return false;
  }
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return true;
}

bool ShmBoard::claim(int slot) noexcept {
  const auto self = this_process();
  std::uint64_t free = 0;
  if (!slot_at(slot).owner.compare_exchange_strong(free, owner_word(self))) return false;
  slot_at(slot).pid_namespace = self.pid_namespace;
  return true;
}

void ShmBoard::fill(int slot, std::uint64_t digest) noexcept {
  slot_at(slot).gpu = pack(request_.gpu);
  slot_at(slot).digest = digest;
}

std::uint64_t ShmBoard::digest(int slot) const noexcept { return slot_at(slot).digest; }

void ShmBoard::set_plan(int slot, std::uint64_t plan) noexcept { slot_at(slot).plan = plan; }

std::uint64_t ShmBoard::plan(int slot) const noexcept { return slot_at(slot).plan; }

std::optional<PciAddress> ShmBoard::gpu(int slot) const noexcept {
  return unpack(slot_at(slot).gpu);
}

bool ShmBoard::is_abandoned() const noexcept {
  return monotonic_ns() >= header_of(memory_).deadline_ns || has_dead_rank();
}

bool ShmBoard::has_dead_rank() const noexcept {
  for (int slot = 0; slot < request_.ranks; ++slot) {
    const std::uint64_t owner = slot_at(slot).owner;
    const ProcessIdentity process{static_cast<std::uint32_t>(owner),
                                  static_cast<std::uint32_t>(owner >> 32),
                                  slot_at(slot).pid_namespace};
    if (owner != 0 && liveness_of(process) == Liveness::dead) return true;
  }
  return false;
}

void ShmBoard::remove_name() noexcept {
  if (identity_) remove_segment(path_, *identity_);
}

void ShmBoard::wait(AgreementWord seen, std::chrono::nanoseconds limit) const noexcept {
  constexpr long a_second = 1'000'000'000;
  const timespec time{static_cast<time_t>(limit.count() / a_second),
                      static_cast<long>(limit.count() % a_second)};
  if (syscall(SYS_futex, &header_of(memory_).word, FUTEX_WAIT, seen.bits(), &time, nullptr, 0) == 0)
    return;
  // Where a sandbox has no futex for shared memory, look again after a short sleep.
  if (errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) return;
  constexpr timespec short_sleep{0, 500'000};
  nanosleep(&short_sleep, nullptr);
}

}  // namespace lanewise::host
