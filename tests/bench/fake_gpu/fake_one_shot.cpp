// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// The one-shot all-reduce without a GPU: of ranks that are threads, as it cannot reach a process.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>

#include "direct/one_shot.hpp"
#include "fake_stream.hpp"

namespace lanewise::bench {
namespace {

constexpr double fake_us = 5;

float float_of(std::uint16_t bf16) {
  const std::uint32_t bits = std::uint32_t{bf16} << 16U;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::uint16_t bf16_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>(bits >> 16U);
}

}  // namespace

class OneShot::Group {
 public:
  Group(int rank, int ranks, const Gather& gather)
      : rank_(static_cast<std::size_t>(rank)), ranks_(static_cast<std::size_t>(ranks)) {
    const std::array<std::uint64_t, 2> mine = {static_cast<std::uint64_t>(getpid()),
                                               reinterpret_cast<std::uintptr_t>(&board_)};
    const auto all = gather(mine);
    for (std::size_t other = 0; other < ranks_; ++other) {
      if (all[2 * other] != mine[0])
        throw std::runtime_error("the fake GPU cannot map another process's memory");
    }
    shared_ = reinterpret_cast<Board*>(all[1]);
  }

  void launch(cudaStream_t stream, const void* in, void* out, std::size_t count) const {
    lanewise_fake_queue(stream, [=, this](cudaStream_t here) {
      shared_->inputs.at(rank_) = static_cast<const std::uint16_t*>(in);
      meet();
      std::vector<std::uint16_t> sums(count);
      for (std::size_t i = 0; i < count; ++i) {
        float sum = 0;
        for (std::size_t other = 0; other < ranks_; ++other)
          sum += float_of(shared_->inputs.at(other)[i]);
        sums[i] = bf16_of(sum);
      }
      meet();
      std::memcpy(out, sums.data(), count * sizeof(sums[0]));
      lanewise_fake_advance(here, fake_us);
    });
  }

 private:
  struct Board {
    std::atomic<std::size_t> arrived{0};
    std::atomic<unsigned> generation{0};
    std::array<const std::uint16_t*, most_one_shot_ranks> inputs{};
  };

  void meet() const {
    const unsigned generation = shared_->generation.load();
    if (shared_->arrived.fetch_add(1) + 1 == ranks_) {
      shared_->arrived = 0;
      ++shared_->generation;
      shared_->generation.notify_all();
      return;
    }
    shared_->generation.wait(generation);
  }

  std::size_t rank_;
  std::size_t ranks_;
  Board board_;
  Board* shared_ = nullptr;
};

OneShotRoute route_from_environment() { return OneShotRoute::host_memory; }
OneShot::OneShot(int rank, int ranks, const Gather& gather, OneShotOptions)
    : group_(std::make_unique<Group>(rank, ranks, gather)) {}
OneShot::~OneShot() = default;
void OneShot::launch(cudaStream_t stream, const void* in, void* out, std::size_t count,
                     DataType) const {
  group_->launch(stream, in, out, count);
}
void OneShot::check() const {}
bool OneShot::uses_host_memory() const noexcept { return true; }

}  // namespace lanewise::bench
