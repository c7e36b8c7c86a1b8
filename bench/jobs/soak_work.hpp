// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The calls of the direct layer's soak: random ones, their data on the GPU, and whether the sums
// are right. For direct_soak.cu.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "direct/group.hpp"

namespace lanewise::bench {

inline constexpr std::size_t gap_bytes = 64;  // between what calls write, and checked

// One call; where it reads and writes in its rank's buffer.
struct Task {
  std::uint64_t in;
  std::uint64_t out;
  std::uint64_t count;
  std::uint64_t seed;
  direct::Element element;
  int group;
  int form;  // -1: the usual one
};

// The same on every rank; a group below 0: any of two.
[[nodiscard]] std::vector<Task> make_tasks(std::mt19937_64& random, int count, int group,
                                           std::size_t max_bytes);

// Tasks on the GPU with the memory that they work in.
class Work {
 public:
  Work(int count, std::size_t max_bytes);
  void load(std::vector<Task> tasks, cudaStream_t stream);
  void prepare(int rank, std::uint64_t salt, cudaStream_t stream) const;
  void verify(int ranks, std::uint64_t salt, unsigned long long* wrong, cudaStream_t stream) const;
  void make(const Task& task, direct::Group& group, cudaStream_t stream) const;

  std::vector<Task> list;

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
  Task* tasks_ = nullptr;
};

}  // namespace lanewise::bench
