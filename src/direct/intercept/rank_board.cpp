// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "intercept/rank_board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <thread>

#include "core/error.hpp"
#include "direct/kernel_plan.hpp"

namespace lanewise::direct {
namespace {

constexpr std::size_t most_words = 32;
constexpr std::size_t most_rounds = 5;
constexpr std::chrono::microseconds poll_interval{100};

[[noreturn]] void refuse(const std::string& path, const char* action, int cause) {
  throw Error(path + ": " + action + ": " + std::generic_category().message(cause));
}

// This user's own file that nobody else can reach.
int open_board(const std::string& path, std::size_t bytes) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) refuse(path, "opening it", errno);
  struct stat status {};
  int cause = fstat(file, &status) == 0 ? 0 : errno;
  if (cause == 0 &&
      (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0))
    cause = EPERM;
  if (cause == 0) cause = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (cause == 0) return file;
  close(file);
  if (cause != EPERM) unlink(path.c_str());
  refuse(path, cause == EPERM ? "it must be this user's own file" : "reserving its space", cause);
}

}  // namespace

// Fresh memory is zero: no rank has come.
struct RankBoard::Page {
  struct Round {
    std::array<std::atomic<std::uint32_t>, most_ranks> words;  // 1 + how many; 0: not yet
    std::array<std::array<std::uint64_t, most_words>, most_ranks> values;
  };
  std::atomic<std::uint32_t> quitter;  // 1 + a rank that gave up
  std::array<Round, most_rounds> rounds;
};

RankBoard::RankBoard(std::uint64_t name, int rank, int ranks, std::chrono::milliseconds limit)
    : rank_(rank), ranks_(ranks), limit_(limit) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "/dev/shm/lanewise-direct-%u-%016llx", geteuid(),
                static_cast<unsigned long long>(name));
  path_ = text.data();
  const int file = open_board(path_, sizeof(Page));
  void* memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int cause = errno;
  close(file);
  if (memory == MAP_FAILED) {
    unlink(path_.c_str());
    refuse(path_, "mapping it", cause);
  }
  page_ = static_cast<Page*>(memory);
}

RankBoard::~RankBoard() {
  munmap(page_, sizeof(Page));
  unlink(path_.c_str());
}

void RankBoard::give_up() noexcept { page_->quitter = static_cast<std::uint32_t>(rank_) + 1; }

std::vector<std::uint64_t> RankBoard::gather(std::span<const std::uint64_t> mine) {
  if (mine.size() > most_words || round_ >= most_rounds) throw Error("too many words for a board");
  auto& round = page_->rounds[round_++];
  const auto me = static_cast<std::size_t>(rank_);
  std::copy(mine.begin(), mine.end(), round.values[me].begin());
  round.words[me].store(static_cast<std::uint32_t>(mine.size()) + 1, std::memory_order_release);
  const auto deadline = std::chrono::steady_clock::now() + limit_;
  std::vector<std::uint64_t> all;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks_); ++rank) {
    std::uint32_t words = 0;
    while ((words = round.words[rank].load(std::memory_order_acquire)) == 0) {
      if (const auto quitter = page_->quitter.load(); quitter != 0)
        throw Error("rank " + std::to_string(quitter - 1) + " gave up");
      if (std::chrono::steady_clock::now() > deadline)
        throw Error("rank " + std::to_string(rank) + " did not come");
      std::this_thread::sleep_for(poll_interval);
    }
    const std::size_t count = std::min<std::size_t>(words - 1, most_words);
    all.insert(all.end(), round.values[rank].begin(),
               round.values[rank].begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

}  // namespace lanewise::direct
