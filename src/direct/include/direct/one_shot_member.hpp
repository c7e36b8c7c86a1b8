// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What the ranks of a one-shot all-reduce tell each other, and what CUDA says of a pair of GPUs.
// Only one_shot.cpp uses it.
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "direct/one_shot.hpp"

namespace lanewise::bench {

// What a rank says of itself before anything is allocated.
struct Introduction {
  std::uint64_t process = 0;
  std::uint64_t gpu_low = 0;  // the UUID
  std::uint64_t gpu_high = 0;
  std::uint64_t device = 0;  // in its own process
  std::uint64_t multiprocessors = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t route = 0;
  std::uint64_t protocol = 0;
};

// And after.
struct Offer {
  std::uint64_t inbox = 0;   // address, for its own process
  std::uint64_t outbox = 0;  // likewise
  std::uint64_t descriptor = 0;
  std::uint64_t has_handle = 0;
  cudaIpcMemHandle_t handle = {};
};

// Everyone's `mine`, in rank order.
template <typename Value>
std::vector<Value> exchange(const OneShot::Gather& gather, const Value& mine, int ranks) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uint64_t) == 0);
  std::array<std::uint64_t, sizeof(Value) / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), &mine, sizeof(mine));
  const std::vector<std::uint64_t> all = gather(words);
  std::vector<Value> values(static_cast<std::size_t>(ranks));
  if (all.size() != values.size() * words.size()) {
    throw Error("one-shot: the ranks' words do not add up");
  }
  std::memcpy(static_cast<void*>(values.data()), all.data(), all.size() * sizeof(std::uint64_t));
  return values;
}

[[nodiscard]] Introduction introduce(int device, const OneShotOptions& options);
// Throws Error where ranks were given different options.
void require_agreement(const std::vector<Introduction>& all);
[[nodiscard]] bool is_same_gpu(const Introduction& a, const Introduction& b) noexcept;
// This process's number of the other rank's GPU, where it sees that GPU.
[[nodiscard]] std::optional<int> find_device(const Introduction& other);

// Whether a call that may be refused was granted. A refusal must not be found by the next check of
// a launch, so it is forgotten.
[[nodiscard]] bool is_granted(cudaError_t status) noexcept;
[[nodiscard]] bool can_access(int device, int other) noexcept;

}  // namespace lanewise::bench
