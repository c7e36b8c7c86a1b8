// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "gpu_flows.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "gpu/cuda_resources.hpp"
#include "link_kernels.hpp"

namespace lanewise::bench {
namespace {

// More than an L2 of one GPU holds for all its flows; small enough for a GPU that is in use.
constexpr std::size_t flow_bytes = std::size_t{32} << 20;
constexpr std::uint64_t flow_vectors = flow_bytes / sizeof(Vector);
// Long against the skew of launching all flows (10 us each).
constexpr std::chrono::nanoseconds flow_duration = std::chrono::milliseconds{50};
// Blocks that fill a link: NVLink takes many, PCIe is full with far fewer.
constexpr int most_push_blocks = 64;
constexpr int most_relay_blocks = 16;
constexpr int poison = 0xa5;

constexpr std::size_t flags_bytes = sizeof(std::uint64_t) * most_relay_blocks * flag_stride;
constexpr std::size_t ring_bytes = sizeof(Vector) * most_relay_blocks * ring_slots * slot_vectors;

Vector* as_vectors(const DeviceBuffer& buffer) { return reinterpret_cast<Vector*>(buffer.data()); }

int multiprocessors(int device) {
  int count = 0;
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  return count;
}

std::uint64_t seed_of(const Flow& flow) {
  return 1 + static_cast<std::uint64_t>(flow.from) * 1000 + static_cast<std::uint64_t>(flow.to);
}

// Through host memory.
struct Relay {
  Stream stream;  // of the consumer
  PinnedBuffer ring{ring_bytes};
  PinnedBuffer produced{flags_bytes};
  PinnedBuffer consumed{flags_bytes};
  PinnedBuffer outcomes{most_relay_blocks * sizeof(FlowOutcome)};
};

// All that one flow holds.
struct Lane {
  explicit Lane(const Flow& which)
      : flow(which),
        source(which.from, flow_bytes),
        destination(which.to, flow_bytes),
        stream(which.from) {}

  Flow flow;
  DeviceBuffer source;
  DeviceBuffer destination;
  Stream stream;  // of the sender
  PinnedBuffer outcomes{most_push_blocks * sizeof(FlowOutcome)};
  std::optional<PeerAccess> access;
  std::optional<Relay> relay;
  FlowEnd end;
};

Moved sum_up(const PinnedBuffer& buffer, std::uint32_t blocks) {
  const auto* outcomes = reinterpret_cast<const FlowOutcome*>(buffer.data());
  Moved moved;
  std::uint64_t begin = outcomes[0].begin_ns;
  std::uint64_t end = outcomes[0].end_ns;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const FlowOutcome& outcome = outcomes[block];
    moved.bytes += outcome.bytes;
    moved.stalled = moved.stalled || outcome.stalled != 0;
    begin = std::min(begin, outcome.begin_ns);
    end = std::max(end, outcome.end_ns);
  }
  moved.nanoseconds = end - begin;
  return moved;
}

class GpuFlows final : public FlowBackend {
 public:
  explicit GpuFlows(std::chrono::nanoseconds wait) : wait_(wait) {}

  void prepare(const Probe& probe) override {
    lanes_.clear();
    for (const Flow& flow : probe.flows) {
      Lane& lane = lanes_.emplace_back(flow);
      if (probe.method == Method::peer) {
        lane.access.emplace(flow.from, flow.to);
      } else {
        lane.relay.emplace(Stream(flow.to));
      }
    }
    for (Lane& lane : lanes_) set_up(lane);
  }

  std::vector<Moved> move() override {
    // Receivers first: they wait for their senders, which wait for a free slot.
    for (Lane& lane : lanes_) {
      if (!lane.relay) continue;
      const DeviceScope scope(lane.flow.to);
      auto* outcomes = reinterpret_cast<FlowOutcome*>(lane.relay->outcomes.data());
      launch_consume(lane.end, outcomes, lane.relay->stream.get());
    }
    for (Lane& lane : lanes_) {
      const DeviceScope scope(lane.flow.from);
      auto* outcomes = reinterpret_cast<FlowOutcome*>(lane.outcomes.data());
      const auto launch = lane.relay ? launch_produce : launch_push;
      launch(lane.end, outcomes, lane.stream.get());
    }
    std::vector<Moved> moved;
    for (Lane& lane : lanes_) {
      lane.stream.wait();
      if (lane.relay) lane.relay->stream.wait();
      const PinnedBuffer& outcomes = lane.relay ? lane.relay->outcomes : lane.outcomes;
      moved.push_back(sum_up(outcomes, lane.end.blocks));
    }
    return moved;
  }

  Arrival inspect(std::size_t index) override {
    const Lane& lane = lanes_.at(index);
    const DeviceScope scope(lane.flow.to);
    const Stream stream(lane.flow.to);
    const DeviceBuffer found(lane.flow.to, sizeof(Mismatches));
    check_cuda(cudaMemsetAsync(found.data(), 0, found.bytes(), stream.get()), "cudaMemsetAsync");
    launch_compare(as_vectors(lane.destination), flow_vectors, seed_of(lane.flow),
                   reinterpret_cast<Mismatches*>(found.data()), stream.get());
    Mismatches mismatches;
    check_cuda(cudaMemcpyAsync(&mismatches, found.data(), sizeof(mismatches),
                               cudaMemcpyDeviceToHost, stream.get()),
               "cudaMemcpyAsync");
    stream.wait();
    return {flow_vectors, mismatches.count, mismatches.last_index};
  }

 private:
  // Blocks of all flows' kernels on the busiest GPU fit it at one a multiprocessor.
  [[nodiscard]] std::uint32_t blocks_of(const Lane& lane) const {
    const auto kernels_on = [&](int device) {
      return std::count_if(lanes_.begin(), lanes_.end(),
                           [&](const Lane& other) { return other.flow.from == device; }) +
             std::count_if(lanes_.begin(), lanes_.end(), [&](const Lane& other) {
               return other.relay && other.flow.to == device;
             });
    };
    const auto fair = [&](int device) {
      return multiprocessors(device) /
             static_cast<int>(std::max<std::ptrdiff_t>(1, kernels_on(device)));
    };
    const int most = lane.relay ? most_relay_blocks : most_push_blocks;
    const int fitting = std::min(fair(lane.flow.from), fair(lane.flow.to));
    return static_cast<std::uint32_t>(std::clamp(fitting, 1, most));
  }

  void set_up(Lane& lane) {
    lane.end.source = as_vectors(lane.source);
    lane.end.destination = as_vectors(lane.destination);
    lane.end.vectors = flow_vectors;
    lane.end.blocks = blocks_of(lane);
    lane.end.duration_ns = static_cast<std::uint64_t>(flow_duration.count());
    lane.end.timeout_ns = static_cast<std::uint64_t>(wait_.count());
    if (lane.relay) {
      lane.end.ring = reinterpret_cast<Vector*>(lane.relay->ring.data());
      lane.end.produced = reinterpret_cast<std::uint64_t*>(lane.relay->produced.data());
      lane.end.consumed = reinterpret_cast<std::uint64_t*>(lane.relay->consumed.data());
    }
    {
      const DeviceScope scope(lane.flow.to);
      preload_flow_kernels();
      check_cuda(cudaMemset(lane.destination.data(), poison, flow_bytes), "cudaMemset");
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    const DeviceScope scope(lane.flow.from);
    preload_flow_kernels();
    launch_fill(as_vectors(lane.source), flow_vectors, seed_of(lane.flow), lane.stream.get());
    lane.stream.wait();
  }

  std::chrono::nanoseconds wait_;
  std::deque<Lane> lanes_;
};

}  // namespace

std::unique_ptr<FlowBackend> make_gpu_flows(std::chrono::nanoseconds wait) {
  return std::make_unique<GpuFlows>(wait);
}

}  // namespace lanewise::bench
