// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The algorithms of the direct all-reduce, on whatever device.hpp the compiler is shown: that of a
// GPU, or one of threads, for tests. Device code only.
#include <cstdint>
#include <cstring>

#include "device.hpp"
#include "direct/kernel_plan.hpp"

namespace lanewise::direct {

using device::Pair;

// Peers whose data is asked for before the first answer is looked at.
inline constexpr unsigned peers_in_flight = 8;

// A stale line could carry the flag of a call 2^31 calls later. Once in so many calls every line of
// both halves is written, so that none grows that old.
inline constexpr std::uint64_t refresh_mask = (std::uint64_t{1} << 20) - 1;

// The caller's buffers; any element may be where an element may be.
template <typename T>
struct Buffers {
  const T* in;
  T* out;
  std::uint64_t count;

  template <typename Word>
  __device__ __forceinline__ std::uint64_t words() const {
    return (count * sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
  }

  // Word `index` of the input, with zeros after its end.
  template <typename Word>
  __device__ __forceinline__ Word load(std::uint64_t index) const {
    constexpr unsigned size = sizeof(Word) / sizeof(T);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(in) % sizeof(Word) == 0;
    if (is_aligned && (index + 1) * size <= count) return reinterpret_cast<const Word*>(in)[index];
    T elements[size] = {};
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      if (index * size + i < count) elements[i] = in[index * size + i];
    }
    Word word;
    memcpy(&word, elements, sizeof(word));
    return word;
  }

  template <typename Word>
  __device__ __forceinline__ void store(std::uint64_t index, const Word& word) const {
    constexpr unsigned size = sizeof(Word) / sizeof(T);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(out) % sizeof(Word) == 0;
    if (is_aligned && (index + 1) * size <= count) {
      reinterpret_cast<Word*>(out)[index] = word;
      return;
    }
    T elements[size];
    memcpy(elements, &word, sizeof(word));
#pragma unroll
    for (unsigned i = 0; i < size; ++i) {
      if (index * size + i < count) out[index * size + i] = elements[i];
    }
  }
};

// The elements of one word, summed in float in the order of ranks: the same bits on all of them.
template <typename T, typename Word>
struct Sum {
  static constexpr unsigned size = sizeof(Word) / sizeof(T);
  float values[size] = {};

  __device__ __forceinline__ void add(const Word& word) {
    T elements[size];
    memcpy(elements, &word, sizeof(word));
#pragma unroll
    for (unsigned i = 0; i < size; ++i) values[i] += device::to_float(elements[i]);
  }

  __device__ __forceinline__ Word rounded() const {
    T elements[size];
#pragma unroll
    for (unsigned i = 0; i < size; ++i) device::from_float(values[i], elements[i]);
    Word word;
    memcpy(&word, elements, sizeof(word));
    return word;
  }
};

// Calls alternate between two halves. A rank writes the half of call e again in call e + 2, after
// its call e + 1, for which it waited for everyone's data; whoever sent that had finished call e.
// So nobody still reads what is overwritten, whatever form each call has.
struct Call {
  std::uint64_t number;
  std::uint64_t half;  // offset

  __device__ __forceinline__ explicit Call(const KernelPlan& plan)
      : number(device::load_relaxed(plan.calls_done) + 1), half((number & 1) * plan.half_bytes) {}
};

// The last block to end counts the call; until then every block has read the old count.
__device__ __forceinline__ void finish(const KernelPlan& plan, const Call& call) {
  device::sync_threads();
  if (device::thread() != 0) return;
  device::fence();
  if (device::add_one(plan.blocks_done) != device::blocks() - 1) return;
  device::store_relaxed_u32(plan.blocks_done, 0);
  device::store_relaxed(plan.calls_done, call.number);
}

// Waits for another rank for as long as it takes. False where the communicator was aborted: then
// nobody looks at the sums.
template <typename Condition>
__device__ __forceinline__ bool wait_until(const KernelPlan& plan, Condition is_met) {
  for (std::uint32_t polls = 1; !is_met(); ++polls) {
    if (polls % device::polls_per_look == 0 && device::load_relaxed(plan.abort) != 0) return false;
    device::pause();
  }
  return true;
}

// A line of LL: 32 bits of payload and the flag, twice. Each half is read in one piece.
__device__ __forceinline__ Pair to_line(std::uint64_t word, std::uint64_t flag) {
  return {(word & 0xffffffffULL) | flag << 32, word >> 32 | flag << 32};
}
__device__ __forceinline__ bool has_arrived(const Pair& line, std::uint64_t flag) {
  return line.low >> 32 == flag && line.high >> 32 == flag;
}
__device__ __forceinline__ std::uint64_t payload_of(const Pair& line) {
  return (line.low & 0xffffffffULL) | line.high << 32;
}
// Never zero, which fresh memory holds.
__device__ __forceinline__ std::uint64_t ll_flag(const Call& call) {
  return (call.number & 0x7fffffffULL) | 0x80000000ULL;
}

// Keeps lines that LL did not write for long from meeting their flag again.
__device__ __forceinline__ void refresh_lines(const KernelPlan& plan, const Call& call,
                                              std::uint64_t used) {
  if ((call.number & refresh_mask) > 1) return;
  const std::uint64_t begin = std::uint64_t{device::block()} * device::threads() + device::thread();
  const std::uint64_t stride = std::uint64_t{device::blocks()} * device::threads();
  auto* mine = reinterpret_cast<Pair*>(plan.areas[plan.rank] + call.half);
  for (std::uint64_t i = used + begin; i < plan.ll_lines; i += stride) {
    device::store_pair(mine + i, to_line(0, ll_flag(call)));
  }
}

template <typename T>
__device__ __forceinline__ bool sum_line(const KernelPlan& plan, const Call& call,
                                         std::uint64_t index, std::uint64_t own,
                                         Sum<T, std::uint64_t>& sum) {
  const std::uint64_t flag = ll_flag(call);
  const auto address = [&](unsigned rank) {
    return reinterpret_cast<const Pair*>(plan.areas[rank] + call.half) + index;
  };
  for (unsigned first = 0; first < plan.ranks; first += peers_in_flight) {
    Pair lines[peers_in_flight];
#pragma unroll
    for (unsigned i = 0; i < peers_in_flight; ++i) {
      const unsigned rank = first + i;
      if (rank < plan.ranks && rank != plan.rank) lines[i] = device::load_pair(address(rank));
    }
#pragma unroll
    for (unsigned i = 0; i < peers_in_flight; ++i) {
      const unsigned rank = first + i;
      if (rank >= plan.ranks) continue;
      if (rank == plan.rank) {
        sum.add(own);
        continue;
      }
      const bool has_come = wait_until(plan, [&] {
        if (has_arrived(lines[i], flag)) return true;
        lines[i] = device::load_pair(address(rank));
        return has_arrived(lines[i], flag);
      });
      if (!has_come) return false;
      sum.add(payload_of(lines[i]));
    }
  }
  return true;
}

// Each word carries its flag, so that nothing waits for a fence; twice the bytes.
template <typename T>
__device__ __forceinline__ void one_shot_ll(const KernelPlan& plan, const Buffers<T>& buffers) {
  using Word = std::uint64_t;
  const Call call(plan);
  const std::uint64_t flag = ll_flag(call);
  const std::uint64_t lines = buffers.template words<Word>();
  const std::uint64_t begin = std::uint64_t{device::block()} * device::threads() + device::thread();
  const std::uint64_t stride = std::uint64_t{device::blocks()} * device::threads();
  auto* mine = reinterpret_cast<Pair*>(plan.areas[plan.rank] + call.half);
  for (std::uint64_t i = begin; i < lines; i += stride) {
    device::store_pair(mine + i, to_line(buffers.template load<Word>(i), flag));
  }
  refresh_lines(plan, call, lines);
  for (std::uint64_t i = begin; i < lines; i += stride) {
    Sum<T, Word> sum;
    if (!sum_line(plan, call, i, buffers.template load<Word>(i), sum)) break;
    buffers.template store<Word>(i, sum.rounded());
  }
  finish(plan, call);
}

__device__ __forceinline__ std::uint64_t flag_offset(const KernelPlan& plan, const Call& call,
                                                     unsigned phase) {
  const std::uint64_t index = std::uint64_t{phase} * most_kernel_blocks + device::block();
  return call.half + plan.flags_offset + index * flag_bytes;
}

// Says that what this block has stored is there.
__device__ __forceinline__ void publish(const KernelPlan& plan, const Call& call, unsigned phase) {
  device::sync_threads();
  if (device::thread() != 0) return;
  device::store_release(
      reinterpret_cast<std::uint64_t*>(plan.areas[plan.rank] + flag_offset(plan, call, phase)),
      call.number);
}

// Waits for the same block of every other rank, a thread for each. The same answer in all threads.
__device__ __forceinline__ bool await_peers(const KernelPlan& plan, const Call& call,
                                            unsigned phase) {
  bool is_aborted = false;
  for (unsigned rank = device::thread(); rank < plan.ranks; rank += device::threads()) {
    if (rank == plan.rank) continue;
    const auto* flag =
        reinterpret_cast<const std::uint64_t*>(plan.areas[rank] + flag_offset(plan, call, phase));
    if (!wait_until(plan, [&] { return device::load_acquire(flag) == call.number; }))
      is_aborted = true;
  }
  return !device::any_of_block(is_aborted);
}

// Vector `index` of every other rank's data and the own one, summed.
template <typename T>
__device__ __forceinline__ Pair sum_vector(const KernelPlan& plan, const Call& call,
                                           std::uint64_t index, const Pair& own) {
  Sum<T, Pair> sum;
  for (unsigned first = 0; first < plan.ranks; first += peers_in_flight) {
    Pair vectors[peers_in_flight];
#pragma unroll
    for (unsigned i = 0; i < peers_in_flight; ++i) {
      const unsigned rank = first + i;
      if (rank >= plan.ranks) continue;
      const auto* data =
          reinterpret_cast<const Pair*>(plan.areas[rank] + call.half + plan.data_offset);
      vectors[i] = rank == plan.rank ? own : device::load_pair(data + index);
    }
#pragma unroll
    for (unsigned i = 0; i < peers_in_flight; ++i) {
      if (first + i < plan.ranks) sum.add(vectors[i]);
    }
  }
  return sum.rounded();
}

// Vectors are cut into a chunk for each rank and that into a share for each block: the same in
// every rank, so that a block needs only the same block of the others.
struct Shares {
  std::uint32_t vectors;
  std::uint32_t chunk;
  std::uint32_t share;
  std::uint32_t begin;  // of this block's share in a chunk

  __device__ __forceinline__ Shares(std::uint64_t all, std::uint32_t chunks)
      : vectors(static_cast<std::uint32_t>(all)),
        chunk((vectors + chunks - 1) / chunks),
        share((chunk + device::blocks() - 1) / device::blocks()),
        begin(device::block() * share) {}

  // Whether the share of chunk `which` has a vector `step`.
  __device__ __forceinline__ bool has(std::uint32_t which, std::uint32_t step) const {
    return step < share && begin + step < chunk && index(which, step) < vectors;
  }
  __device__ __forceinline__ std::uint32_t index(std::uint32_t which, std::uint32_t step) const {
    return which * chunk + begin + step;
  }
};

// Data, then one flag a block.
template <typename T>
__device__ __forceinline__ void one_shot_simple(const KernelPlan& plan, const Buffers<T>& buffers) {
  const Call call(plan);
  const Shares shares(buffers.template words<Pair>(), 1);
  auto* data = reinterpret_cast<Pair*>(plan.areas[plan.rank] + call.half + plan.data_offset);
  for (std::uint32_t step = device::thread(); shares.has(0, step); step += device::threads()) {
    const std::uint32_t i = shares.index(0, step);
    device::store_pair(data + i, buffers.template load<Pair>(i));
  }
  publish(plan, call, 0);
  refresh_lines(plan, call, 0);
  if (await_peers(plan, call, 0)) {
    for (std::uint32_t step = device::thread(); shares.has(0, step); step += device::threads()) {
      const std::uint32_t i = shares.index(0, step);
      const Pair own = buffers.template load<Pair>(i);
      buffers.template store<Pair>(i, sum_vector<T>(plan, call, i, own));
    }
  }
  finish(plan, call);
}

// Copies this block's share of every other rank's sums to the output.
template <typename T>
__device__ __forceinline__ void gather_sums(const KernelPlan& plan, const Call& call,
                                            const Buffers<T>& buffers, const Shares& shares) {
  for (std::uint32_t step = device::thread(); shares.has(0, step); step += device::threads()) {
    for (unsigned first = 0; first < plan.ranks; first += peers_in_flight) {
      Pair sums[peers_in_flight];
#pragma unroll
      for (unsigned i = 0; i < peers_in_flight; ++i) {
        const unsigned rank = first + i;
        if (rank >= plan.ranks || rank == plan.rank || !shares.has(rank, step)) continue;
        const auto* theirs =
            reinterpret_cast<const Pair*>(plan.areas[rank] + call.half + plan.sums_offset);
        sums[i] = device::load_pair(theirs + shares.begin + step);
      }
#pragma unroll
      for (unsigned i = 0; i < peers_in_flight; ++i) {
        const unsigned rank = first + i;
        if (rank >= plan.ranks || rank == plan.rank || !shares.has(rank, step)) continue;
        buffers.template store<Pair>(shares.index(rank, step), sums[i]);
      }
    }
  }
}

// Each rank sums one chunk of everyone's data and hands out the sums: 2(n-1)/n times the bytes over
// a rank's link where one shot reads n-1 times, for a second wait.
template <typename T>
__device__ __forceinline__ void two_shot(const KernelPlan& plan, const Buffers<T>& buffers) {
  const Call call(plan);
  const Shares shares(buffers.template words<Pair>(), plan.ranks);
  std::byte* half = plan.areas[plan.rank] + call.half;
  auto* data = reinterpret_cast<Pair*>(half + plan.data_offset);
  auto* sums = reinterpret_cast<Pair*>(half + plan.sums_offset);
  for (unsigned rank = 0; rank < plan.ranks; ++rank) {
    if (rank == plan.rank) continue;
    for (std::uint32_t step = device::thread(); shares.has(rank, step); step += device::threads()) {
      const std::uint32_t i = shares.index(rank, step);
      device::store_pair(data + i, buffers.template load<Pair>(i));
    }
  }
  publish(plan, call, 0);
  refresh_lines(plan, call, 0);
  if (await_peers(plan, call, 0)) {
    for (std::uint32_t step = device::thread(); shares.has(plan.rank, step);
         step += device::threads()) {
      const std::uint32_t i = shares.index(plan.rank, step);
      const Pair sum = sum_vector<T>(plan, call, i, buffers.template load<Pair>(i));
      device::store_pair(sums + shares.begin + step, sum);
      buffers.template store<Pair>(i, sum);
    }
    publish(plan, call, 1);
    if (await_peers(plan, call, 1)) gather_sums(plan, call, buffers, shares);
  }
  finish(plan, call);
}

}  // namespace lanewise::direct
