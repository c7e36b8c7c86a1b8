// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Ranks as threads of a test, each on a fake GPU of its own, and what they own of the fake driver.
#include <barrier>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "direct/group.hpp"
#include "fake_gpu/fake_cuda.hpp"

namespace lanewise::direct {

// All-gather between threads.
class Meeting {
 public:
  explicit Meeting(int ranks) : words_(static_cast<std::size_t>(ranks)), barrier_(ranks) {}

  std::vector<std::uint64_t> gather(int rank, std::span<const std::uint64_t> mine) {
    words_.at(static_cast<std::size_t>(rank)).assign(mine.begin(), mine.end());
    barrier_.arrive_and_wait();
    std::vector<std::uint64_t> all;
    for (const auto& words : words_) all.insert(all.end(), words.begin(), words.end());
    barrier_.arrive_and_wait();
    return all;
  }

 private:
  std::vector<std::vector<std::uint64_t>> words_;
  std::barrier<> barrier_;
};

// All ranks leave together: nobody's memory goes while another still reads it.
inline void run_ranks(int ranks, const std::function<void(int, const Group::Gather&)>& body) {
  Meeting meeting(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      fake_use_device(rank);
      body(rank, [&](std::span<const std::uint64_t> mine) { return meeting.gather(rank, mine); });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class TestStream {
 public:
  TestStream() { cuStreamCreate(&stream_, 1); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  ~TestStream() { cuStreamDestroy_v2(stream_); }
  [[nodiscard]] CUstream_st* get() const { return stream_; }

 private:
  CUstream_st* stream_ = nullptr;
};

class TestGraph {
 public:
  TestGraph(CUstream_st* stream, const std::function<void()>& calls) {
    cuStreamBeginCapture_v2(stream, 2);
    calls();
    CUgraph_st* graph = nullptr;
    cuStreamEndCapture(stream, &graph);
    cuGraphInstantiateWithFlags(&executable_, graph, 0);
    cuGraphDestroy(graph);
  }
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;
  ~TestGraph() { cuGraphExecDestroy(executable_); }
  void launch(CUstream_st* stream) const { cuGraphLaunch(executable_, stream); }

 private:
  CUgraphExec_st* executable_ = nullptr;
};

}  // namespace lanewise::direct
