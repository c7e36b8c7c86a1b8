// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Launchers of the kernels that play both ends of a link. Every wait inside is bounded by
// timeout_ns; each launcher runs on the current device and throws where the launch fails.
#include <cuda_runtime_api.h>

#include <cstdint>

namespace lanewise::bench {

// 16 bytes: what one thread moves at a time.
struct Vector {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// Whether the receiver reads each payload back from its own memory before it replies.
enum class PayloadCheck : std::uint32_t { off, on };

// One end of a ping-pong. Flags count rounds from 1 and are zero before the first.
struct PingPong {
  std::uint64_t* outgoing = nullptr;        // the other end waits for it
  const std::uint64_t* incoming = nullptr;  // this end waits for it
  Vector* payload = nullptr;  // the ping writes, the pong may read; null: the flag alone
  Vector* keep = nullptr;     // the pong's own memory, into which it copies the payload; or null
  std::uint32_t vectors = 0;  // of payload, at most ping_threads
  std::uint32_t warmup = 0;   // rounds before the clock starts
  std::uint32_t rounds = 0;
  std::uint64_t timeout_ns = 0;  // one wait
  PayloadCheck check = PayloadCheck::off;
};
inline constexpr std::uint32_t ping_threads = 256;

struct PingOutcome {
  std::uint64_t elapsed_ns = 0;  // of `rounds`
  std::uint64_t rounds = 0;      // completed, warm-up included
  std::uint64_t wrong = 0;       // vectors that were not this round's
};

// `outcome` is host memory that the GPU sees.
void launch_ping(const PingPong& end, PingOutcome* outcome, cudaStream_t stream);
void launch_pong(const PingPong& end, PingOutcome* outcome, cudaStream_t stream);

// One end of a flow of many passes over the same vectors, until duration_ns is over (at least one
// pass). `ring`, `produced` and `consumed` are host memory, for flows through it.
struct FlowEnd {
  const Vector* source = nullptr;
  Vector* destination = nullptr;
  Vector* ring = nullptr;             // blocks x ring_slots x slot_vectors
  std::uint64_t* produced = nullptr;  // blocks x flag_stride, zero before
  std::uint64_t* consumed = nullptr;  // as produced
  std::uint64_t vectors = 0;
  std::uint32_t blocks = 1;
  std::uint64_t duration_ns = 0;
  std::uint64_t timeout_ns = 0;
};
inline constexpr std::uint32_t ring_slots = 4;
inline constexpr std::uint32_t slot_vectors = 4096;  // 64 KiB: as NCCL's steps of Simple
inline constexpr std::uint32_t flag_stride = 16;     // 128 bytes: two flags never share a line

// One a block, in host memory that the GPU sees.
struct FlowOutcome {
  std::uint64_t bytes = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t stalled = 0;
};

// Stores straight into the other GPU's memory.
void launch_push(const FlowEnd& end, FlowOutcome* outcomes, cudaStream_t stream);
// Into the ring, and out of it. All blocks of both must be resident at once.
void launch_produce(const FlowEnd& end, FlowOutcome* outcomes, cudaStream_t stream);
void launch_consume(const FlowEnd& end, FlowOutcome* outcomes, cudaStream_t stream);

// The pattern of `seed`: every word of every vector is different.
void launch_fill(Vector* memory, std::uint64_t vectors, std::uint64_t seed, cudaStream_t stream);

struct Mismatches {
  std::uint64_t count = 0;
  std::uint64_t last_index = 0;  // of a vector
};
// Adds to `mismatches`, memory of the current device.
void launch_compare(const Vector* memory, std::uint64_t vectors, std::uint64_t seed,
                    Mismatches* mismatches, cudaStream_t stream);

// Load the kernels into the current device: the first launch of one may wait for the device, which
// would hang behind a kernel that waits for it.
void preload_ping_kernels();
void preload_flow_kernels();

}  // namespace lanewise::bench
