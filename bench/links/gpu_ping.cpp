// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "gpu_ping.hpp"

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "gpu/cuda_resources.hpp"
#include "link_kernels.hpp"

namespace lanewise::bench {
namespace {

// Enough rounds that a globaltimer of 1 us steps (before Hopper) adds less than 0.1 %.
constexpr std::uint32_t warmup_rounds = 200;
constexpr std::uint32_t timed_rounds = 2000;
constexpr std::uint32_t checked_rounds = 200;

// Offsets in a mailbox: flags and payload never share a page.
constexpr std::size_t reply_offset = 4096;
constexpr std::size_t payload_offset = 8192;
constexpr std::size_t payload_bytes = 4096;
constexpr std::size_t mailbox_bytes = payload_offset + payload_bytes;

static_assert(payload_bytes == ping_threads * sizeof(Vector));

struct Rounds {
  std::uint32_t warmup = 0;
  std::uint32_t timed = 0;
  std::uint32_t vectors = 0;  // 0: the flag alone
  PayloadCheck check = PayloadCheck::off;
};

std::uint64_t* flag_at(std::byte* mailbox, std::size_t offset) {
  return reinterpret_cast<std::uint64_t*>(mailbox + offset);
}

Vector* payload_of(std::byte* mailbox) {
  return reinterpret_cast<Vector*>(mailbox + payload_offset);
}

// Two GPUs with a mailbox each and one in host memory.
class Court {
 public:
  Court(const Flow& flow, Method method)
      : flow_(flow),
        method_(method),
        ping_stream_(flow.from),
        pong_stream_(flow.to),
        ping_mailbox_(flow.from, mailbox_bytes),
        pong_mailbox_(flow.to, mailbox_bytes),
        host_mailbox_(mailbox_bytes),
        outcomes_(2 * sizeof(PingOutcome)) {
    if (method == Method::peer) {
      there_.emplace(flow.from, flow.to);
      back_.emplace(flow.to, flow.from);
    }
    for (const int device : {flow.from, flow.to}) {
      const DeviceScope scope(device);
      preload_ping_kernels();
    }
  }

  // The ping's outcome with the pong's count of wrong vectors.
  PingOutcome play(const Rounds& rounds, std::chrono::nanoseconds wait) {
    clear();
    PingPong ping;
    ping.warmup = rounds.warmup;
    ping.rounds = rounds.timed;
    ping.timeout_ns = static_cast<std::uint64_t>(wait.count());
    ping.vectors = rounds.vectors;
    ping.check = rounds.check;
    PingPong pong = ping;
    connect(ping, pong, rounds);
    auto* outcomes = reinterpret_cast<PingOutcome*>(outcomes_.data());
    {
      const DeviceScope scope(flow_.to);
      launch_pong(pong, outcomes + 1, pong_stream_.get());
    }
    {
      const DeviceScope scope(flow_.from);
      launch_ping(ping, outcomes, ping_stream_.get());
    }
    ping_stream_.wait();
    pong_stream_.wait();
    return {outcomes[0].elapsed_ns, outcomes[0].rounds, outcomes[1].wrong};
  }

 private:
  void clear() {
    for (const DeviceBuffer* mailbox : {&ping_mailbox_, &pong_mailbox_}) {
      const DeviceScope scope(mailbox->device());
      check_cuda(cudaMemset(mailbox->data(), 0, mailbox->bytes()), "cudaMemset");
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    std::memset(host_mailbox_.data(), 0, mailbox_bytes);
  }

  void connect(PingPong& ping, PingPong& pong, const Rounds& rounds) const {
    const bool is_peer = method_ == Method::peer;
    // Each end polls its own memory where the other can store into it.
    std::byte* to_pong = is_peer ? pong_mailbox_.data() : host_mailbox_.data();
    std::byte* to_ping = is_peer ? ping_mailbox_.data() : host_mailbox_.data();
    ping.outgoing = flag_at(to_pong, 0);
    pong.incoming = ping.outgoing;
    pong.outgoing = flag_at(to_ping, reply_offset);
    ping.incoming = pong.outgoing;
    if (rounds.vectors == 0) return;
    ping.payload = payload_of(to_pong);
    pong.payload = ping.payload;
    if (!is_peer) pong.keep = payload_of(pong_mailbox_.data());
  }

  Flow flow_;
  Method method_;
  std::optional<PeerAccess> there_;
  std::optional<PeerAccess> back_;
  Stream ping_stream_;
  Stream pong_stream_;
  DeviceBuffer ping_mailbox_;
  DeviceBuffer pong_mailbox_;
  PinnedBuffer host_mailbox_;
  PinnedBuffer outcomes_;
};

std::optional<std::string> fault_of(const PingOutcome& outcome, const Rounds& rounds) {
  const std::uint64_t expected = rounds.warmup + rounds.timed;
  if (outcome.rounds != expected) {
    return "a flag did not arrive in round " + std::to_string(outcome.rounds + 1) + " of " +
           std::to_string(expected);
  }
  if (outcome.wrong != 0) {
    return std::to_string(outcome.wrong) + " of " + std::to_string(expected * rounds.vectors) +
           " vectors were not in the destination's own memory when their flag was";
  }
  return std::nullopt;
}

// Microseconds of a round trip.
Reading time_rounds(Court& court, const Rounds& rounds, std::chrono::nanoseconds wait) {
  const PingOutcome outcome = court.play(rounds, wait);
  if (const auto fault = fault_of(outcome, rounds)) return {{}, fault};
  return {{static_cast<double>(outcome.elapsed_ns) / 1e3 / rounds.timed}, std::nullopt};
}

}  // namespace

Reading measure_latency(const Flow& flow, Method method, std::chrono::nanoseconds wait) {
  Court court(flow, method);
  Reading trip = time_rounds(court, {warmup_rounds, timed_rounds, 0, PayloadCheck::off}, wait);
  if (!trip.error) trip.values.front() /= 2;
  return trip;
}

Reading measure_store(const Flow& flow, Method method, std::chrono::nanoseconds wait) {
  Court court(flow, method);
  Reading checked = time_rounds(court, {0, checked_rounds, ping_threads, PayloadCheck::on}, wait);
  if (checked.error) return checked;
  Reading flag = time_rounds(court, {warmup_rounds, timed_rounds, 0, PayloadCheck::off}, wait);
  if (flag.error) return flag;
  Reading store =
      time_rounds(court, {warmup_rounds, timed_rounds, ping_threads, PayloadCheck::off}, wait);
  if (!store.error) store.values.front() -= flag.values.front() / 2;
  return store;
}

}  // namespace lanewise::bench
