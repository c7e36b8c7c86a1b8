// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Ranks as threads of a test, each on a fake GPU of its own, and what they own of the fake driver.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "direct/group.hpp"
#include "fake_gpu/fake_cuda.hpp"

namespace lanewise::direct {

// All-gather between threads.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(static_cast<std::size_t>(ranks)), words_(ranks_) {}

  std::vector<std::uint64_t> gather(int rank, std::span<const std::uint64_t> mine) {
    std::unique_lock lock(mutex_);
    words_.at(static_cast<std::size_t>(rank)).assign(mine.begin(), mine.end());
    const std::uint64_t round = round_;
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      all_.clear();
      for (const auto& words : words_) all_.insert(all_.end(), words.begin(), words.end());
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != round; });
    return all_;
  }

 private:
  std::size_t ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::uint64_t>> words_;
  std::vector<std::uint64_t> all_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
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
