// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "gpu_one_shot.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "direct/cuda_resources.hpp"
#include "direct/one_shot.hpp"
#include "one_shot_reference.hpp"

namespace lanewise::bench {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{2} << 20;
constexpr int poison = 0xa5;

// Calls in a row that are checked, each with its own data: more than the two halves of an area.
constexpr std::size_t calls_in_a_row = 8;
// Elements of checked calls: less than a word, odd tails, a block, several blocks, both protocols.
constexpr std::size_t checked_counts[] = {1, 3, 9, 512, 7168, 14337, 57345};

// One launch of many calls: what launching costs is spread over them.
constexpr int calls_in_a_graph = 200;
constexpr int replays = 11;

struct Float32 {
  using Element = float;
  static constexpr DataType type = DataType::fp32;
  static Element round(float value) { return value; }
  static float widen(Element value) { return value; }
};
struct Float16 {
  using Element = __half;
  static constexpr DataType type = DataType::fp16;
  static Element round(float value) { return __float2half_rn(value); }
  static float widen(Element value) { return __half2float(value); }
};
struct Bfloat16 {
  using Element = __nv_bfloat16;
  static constexpr DataType type = DataType::bf16;
  static Element round(float value) { return __float2bfloat16_rn(value); }
  static float widen(Element value) { return __bfloat162float(value); }
};

// All-gather between threads. A rank that fails releases the others.
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
    changed_.wait(lock, [&] { return round_ != round || failure_; });
    if (round_ == round) throw std::runtime_error("another rank failed");
    return all_;
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::size_t ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::uint64_t>> words_;
  std::vector<std::uint64_t> all_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
  std::exception_ptr failure_;
};

struct Member {
  explicit Member(int which)
      : device(which), stream(which), input(which, buffer_bytes), output(which, buffer_bytes) {}

  int device;
  Stream stream;
  DeviceBuffer input;
  DeviceBuffer output;
  std::unique_ptr<OneShot> one_shot;
};

// A recorded graph of calls of one rank.
class Recording {
 public:
  explicit Recording(const Member& member) : member_(member) {
    check_cuda(cudaEventCreate(&begin_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (graph_ != nullptr) static_cast<void>(cudaGraphExecDestroy(graph_));
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }

  void record(std::size_t count) {
    const cudaStream_t stream = member_.stream.get();
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    for (int call = 0; call < calls_in_a_graph; ++call) {
      member_.one_shot->launch(stream, member_.input.data(), member_.output.data(), count,
                               DataType::bf16);
    }
    cudaGraph_t captured = nullptr;
    check_cuda(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&graph_, captured, 0);
    static_cast<void>(cudaGraphDestroy(captured));
    check_cuda(status, "cudaGraphInstantiate");
    check_cuda(cudaGraphUpload(graph_, stream), "cudaGraphUpload");
  }

  void replay() {
    const cudaStream_t stream = member_.stream.get();
    check_cuda(cudaEventRecord(begin_, stream), "cudaEventRecord");
    check_cuda(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch");
    check_cuda(cudaEventRecord(end_, stream), "cudaEventRecord");
  }

  [[nodiscard]] double us_per_call() const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e3 / calls_in_a_graph;
  }

 private:
  const Member& member_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

class Team {
 public:
  Team(const std::vector<Flow>& ranks, Method method, std::chrono::nanoseconds wait) {
    for (const Flow& rank : ranks) members_.emplace_back(rank.to);
    OneShotOptions options;
    options.max_bytes = buffer_bytes / calls_in_a_row;
    options.route = method == Method::peer ? OneShotRoute::peer_access : OneShotRoute::host_memory;
    options.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(wait);
    Meeting meeting(count());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count(); ++rank) {
      threads.emplace_back([&, rank] { join(rank, meeting, options); });
    }
    for (std::thread& thread : threads) thread.join();
    meeting.rethrow();
  }

  template <typename Rounding>
  void verify(std::size_t elements) {
    const std::size_t stride = stride_of(elements * sizeof(typename Rounding::Element));
    const std::size_t calls = std::min(calls_in_a_row, buffer_bytes / stride);
    for (std::size_t call = 0; call < calls; ++call) {
      load<Rounding>(call, elements, call * stride);
    }
    for (std::size_t call = 0; call < calls; ++call) {
      for (const Member& member : members_) {
        const DeviceScope scope(member.device);
        member.one_shot->launch(member.stream.get(), member.input.data() + call * stride,
                                member.output.data() + call * stride, elements, Rounding::type);
      }
    }
    wait_for_all();
    for (std::size_t call = 0; call < calls; ++call) {
      compare<Rounding>(call, elements, call * stride);
    }
  }

  double time(std::size_t bytes) {
    const std::size_t elements = bytes / sizeof(__nv_bfloat16);
    load<Bfloat16>(bytes, elements, 0);
    std::deque<Recording> recordings;
    for (const Member& member : members_) {
      const DeviceScope scope(member.device);
      recordings.emplace_back(member).record(elements);
    }
    wait_for_all();
    std::vector<double> times;
    for (int replay = 0; replay < replays; ++replay) {
      for (std::size_t rank = 0; rank < members_.size(); ++rank) {
        const DeviceScope scope(members_[rank].device);
        recordings[rank].replay();
      }
      wait_for_all();
      // The last to start: the others' times hold the wait for its launch.
      times.push_back(recordings.back().us_per_call());
    }
    compare<Bfloat16>(bytes, elements, 0);
    std::nth_element(times.begin(), times.begin() + replays / 2, times.end());
    return times[replays / 2];
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(members_.size()); }

  static std::size_t stride_of(std::size_t bytes) { return (bytes / 256 + 1) * 256; }

  void join(int rank, Meeting& meeting, const OneShotOptions& options) {
    try {
      Member& member = members_.at(static_cast<std::size_t>(rank));
      check_cuda(cudaSetDevice(member.device), "cudaSetDevice");
      const auto gather = [&](std::span<const std::uint64_t> mine) {
        return meeting.gather(rank, mine);
      };
      member.one_shot = std::make_unique<OneShot>(rank, count(), gather, options);
    } catch (const std::exception&) {
      meeting.fail(std::current_exception());
    }
  }

  template <typename Rounding>
  void load(std::uint64_t seed, std::size_t elements, std::size_t offset) {
    for (int rank = 0; rank < count(); ++rank) {
      const Member& member = members_.at(static_cast<std::size_t>(rank));
      const DeviceScope scope(member.device);
      const auto input = make_input<Rounding>(seed, rank, elements);
      const std::size_t bytes = elements * sizeof(input.front());
      check_cuda(
          cudaMemcpy(member.input.data() + offset, input.data(), bytes, cudaMemcpyHostToDevice),
          "cudaMemcpy");
      check_cuda(cudaMemset(member.output.data() + offset, poison, stride_of(bytes)), "cudaMemset");
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  }

  // Bit by bit, and the byte after the output too.
  template <typename Rounding>
  void compare(std::uint64_t seed, std::size_t elements, std::size_t offset) const {
    auto expected = sum_inputs<Rounding>(seed, count(), elements);
    const std::size_t bytes = elements * sizeof(expected.front());
    std::vector<std::uint8_t> found(bytes + 1);
    for (int rank = 0; rank < count(); ++rank) {
      const Member& member = members_.at(static_cast<std::size_t>(rank));
      check_cuda(cudaMemcpy(found.data(), member.output.data() + offset, bytes + 1,
                            cudaMemcpyDeviceToHost),
                 "cudaMemcpy");
      if (std::memcmp(found.data(), expected.data(), bytes) == 0 && found.back() == poison)
        continue;
      throw std::runtime_error("the one-shot all-reduce gave rank " + std::to_string(rank) +
                               " a wrong sum of " + std::to_string(elements) + " elements of " +
                               std::string(name_of(Rounding::type)));
    }
  }

  void wait_for_all() const {
    for (const Member& member : members_) member.stream.wait();
    for (const Member& member : members_) member.one_shot->check();
  }

  std::deque<Member> members_;
};

}  // namespace

Reading measure_one_shot(const std::vector<Flow>& ranks, Method method,
                         std::chrono::nanoseconds wait) {
  Team team(ranks, method, wait);
  for (const std::size_t elements : checked_counts) {
    team.verify<Float32>(elements);
    team.verify<Float16>(elements);
    team.verify<Bfloat16>(elements);
  }
  Reading reading;
  for (const std::size_t bytes : one_shot_bytes) reading.values.push_back(team.time(bytes));
  return reading;
}

}  // namespace lanewise::bench
