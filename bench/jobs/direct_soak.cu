// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Random all-reduces of the direct layer on one GPU, checked bit by bit: ranks are threads, with
// two groups, two streams of eager calls and graphs that are replayed beside them. Usage:
//   lanewise-direct-soak [--ranks N] [--calls N] [--seed N] [--max-bytes N] [--blocks N] [--host]
// Ends with 0 only where nothing was wrong. CUDA_DEVICE_MAX_CONNECTIONS is set to 32 by itself.
#include <cuda_runtime.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "direct/group.hpp"
#include "gpu/cuda_check.hpp"
#include "soak_work.hpp"

namespace lanewise::bench {
namespace {

using direct::Element;
using direct::Group;

constexpr int calls_of_a_round = 96;
constexpr int graphs_of_a_group = 2;
constexpr int calls_of_a_graph = 12;

struct Options {
  int ranks = 8;
  std::uint64_t calls = 100'000;  // of each rank
  std::uint64_t seed = 1;
  std::size_t max_bytes = 100'000;
  int blocks = 8;  // of a kernel: those of all ranks, groups and streams are resident at once
  bool is_on_host = false;
};

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

struct Graph {
  Work work;
  cudaGraphExec_t executable = nullptr;
};

class Rank {
 public:
  Rank(int rank, const Options& options, Meeting& meeting)
      : rank_(rank),
        options_(options),
        meeting_(meeting),
        own_(options.seed + 77 * (1 + static_cast<std::uint64_t>(rank))),
        shared_(options.seed),
        eager_(calls_of_a_round, options.max_bytes) {
    check_cuda(cudaSetDevice(0), "cudaSetDevice");
    check_cuda(cudaFree(nullptr), "cudaFree");
    direct::GroupOptions group;
    group.max_bytes = options.max_bytes;
    group.ll_bytes = options.max_bytes;
    group.graphs = graphs_of_a_group;
    group.most_blocks = options.blocks;
    group.may_use_gpu = !options.is_on_host;
    for (auto& one : groups_) {
      one = std::make_unique<Group>(
          rank, options.ranks,
          [&](std::span<const std::uint64_t> mine) { return meeting.gather(rank, mine); }, group);
    }
    for (auto& stream : streams_)
      check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
    check_cuda(cudaMallocHost(&wrong_, sizeof(*wrong_)), "cudaMallocHost");
    *wrong_ = 0;
    for (int index = 0; index < 2 * graphs_of_a_group; ++index) capture(index / graphs_of_a_group);
    warm();
  }

  std::uint64_t run() {
    std::uint64_t done = 0;
    for (std::uint64_t round = 0; done < options_.calls && *wrong_ == 0; ++round) {
      done += run_round(round);
      if (rank_ == 0 && round % 512 == 0) {
        std::printf("%llu calls of each rank\n", static_cast<unsigned long long>(done));
        std::fflush(stdout);
      }
      // All of them end with the same round.
      const std::uint64_t mine[] = {*wrong_};
      for (const std::uint64_t wrong : meeting_.gather(rank_, mine)) total_wrong_ += wrong;
      if (total_wrong_ != 0) break;
    }
    calls_ = done;
    return total_wrong_;
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  void capture(int group) {
    Graph graph{Work(calls_of_a_graph, options_.max_bytes)};
    graph.work.load(make_tasks(shared_, calls_of_a_graph, group, options_.max_bytes), streams_[2]);
    check_cuda(cudaStreamSynchronize(streams_[2]), "cudaStreamSynchronize");
    check_cuda(cudaStreamBeginCapture(streams_[2], cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    for (const Task& task : graph.work.list)
      graph.work.make(task, *groups_[static_cast<std::size_t>(group)], streams_[2]);
    cudaGraph_t captured = nullptr;
    check_cuda(cudaStreamEndCapture(streams_[2], &captured), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&graph.executable, captured, 0), "cudaGraphInstantiate");
    check_cuda(cudaGraphUpload(graph.executable, streams_[2]), "cudaGraphUpload");
    check_cuda(cudaStreamSynchronize(streams_[2]), "cudaStreamSynchronize");
    graphs_.push_back(std::move(graph));
  }

  // Every kernel of ours is loaded before any rank's waits for another.
  void warm() {
    eager_.load({{gap_bytes, gap_bytes, 1, 1, Element::fp32, 0, 0}}, streams_[0]);
    eager_.prepare(rank_, 0, streams_[0]);
    eager_.verify(1, 0, wrong_, streams_[0]);
    check_cuda(cudaStreamSynchronize(streams_[0]), "cudaStreamSynchronize");
    *wrong_ = 0;
    meeting_.gather(rank_, {});
  }

  void wait_between(cudaStream_t from, cudaStream_t to) const {
    check_cuda(cudaEventRecord(event_, from), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(to, event_, 0), "cudaStreamWaitEvent");
  }

  std::uint64_t run_round(std::uint64_t round) {
    eager_.load(make_tasks(shared_, calls_of_a_round, -1, options_.max_bytes), streams_[0]);
    eager_.prepare(rank_, 0, streams_[0]);
    wait_between(streams_[0], streams_[1]);
    const std::uint64_t replayed = shared_() % graphs_.size();
    Graph& graph = graphs_[replayed];
    graph.work.prepare(rank_, round, streams_[2]);
    // Where in the round the graph starts and which stream a call takes is each rank's own affair.
    const std::size_t start = own_() % eager_.list.size();
    for (std::size_t call = 0; call < eager_.list.size(); ++call) {
      if (call == start)
        check_cuda(cudaGraphLaunch(graph.executable, streams_[2]), "cudaGraphLaunch");
      const Task& task = eager_.list[call];
      eager_.make(task, *groups_[static_cast<std::size_t>(task.group)], streams_[own_() % 2]);
    }
    wait_between(streams_[1], streams_[0]);
    eager_.verify(options_.ranks, 0, wrong_, streams_[0]);
    graph.work.verify(options_.ranks, round, wrong_, streams_[2]);
    check_cuda(cudaStreamSynchronize(streams_[0]), "cudaStreamSynchronize");
    check_cuda(cudaStreamSynchronize(streams_[2]), "cudaStreamSynchronize");
    return eager_.list.size() + graph.work.list.size();
  }

  int rank_;
  const Options& options_;
  Meeting& meeting_;
  std::mt19937_64 own_;
  std::mt19937_64 shared_;
  Work eager_;
  std::unique_ptr<Group> groups_[2];
  cudaStream_t streams_[3] = {};
  cudaEvent_t event_ = nullptr;
  unsigned long long* wrong_ = nullptr;
  std::uint64_t total_wrong_ = 0;
  std::uint64_t calls_ = 0;
  std::vector<Graph> graphs_;
};

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--host") {
      options.is_on_host = true;
      continue;
    }
    if (i + 1 >= count) throw Error(word + " needs a number");
    const std::uint64_t value = std::strtoull(words[++i], nullptr, 10);
    if (word == "--ranks")
      options.ranks = static_cast<int>(value);
    else if (word == "--calls")
      options.calls = value;
    else if (word == "--seed")
      options.seed = value;
    else if (word == "--max-bytes")
      options.max_bytes = value;
    else if (word == "--blocks")
      options.blocks = static_cast<int>(value);
    else
      throw Error("unknown option " + word);
  }
  return options;
}

int soak(const Options& options) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  Meeting meeting(options.ranks);
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> calls{0};
  for (int rank = 0; rank < options.ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Rank one(rank, options, meeting);
        wrong += one.run();
        calls += one.calls();
        meeting.gather(rank, {});
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        std::_Exit(1);  // the others wait on the GPU
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d ranks, %llu calls, %llu wrong\n", options.ranks,
              static_cast<unsigned long long>(calls.load()),
              static_cast<unsigned long long>(wrong.load()));
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lanewise::bench

int main(int count, char** words) {
  try {
    return lanewise::bench::soak(lanewise::bench::parse(count, words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanewise-direct-soak: %s\n", error.what());
    return 2;
  }
}
