// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What all_reduce.hpp needs of a GPU, made of threads: the product's algorithms run as they are,
// and a sanitizer sees their memory order.
#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstdint>
#include <thread>

#define __device__
#define __forceinline__ inline

namespace lanewise::direct::device {

struct alignas(16) Pair {
  std::uint64_t low;
  std::uint64_t high;
};

// A poll here is a turn of the scheduler, milliseconds on a machine that is busy.
inline constexpr std::uint32_t polls_per_look = 1;

struct Block {
  explicit Block(unsigned threads) : barrier(static_cast<std::ptrdiff_t>(threads)) {}
  std::barrier<> barrier;
  std::atomic<int> claims{0};
};
struct Lane {
  unsigned thread = 0;
  unsigned threads = 1;
  unsigned block = 0;
  unsigned blocks = 1;
  Block* mates = nullptr;
};
inline thread_local Lane lane;

inline unsigned thread() { return lane.thread; }
inline unsigned threads() { return lane.threads; }
inline unsigned block() { return lane.block; }
inline unsigned blocks() { return lane.blocks; }
inline void sync_threads() { lane.mates->barrier.arrive_and_wait(); }
inline bool any_of_block(bool claim) {
  if (claim) ++lane.mates->claims;
  sync_threads();
  const bool result = lane.mates->claims > 0;
  sync_threads();
  if (claim) --lane.mates->claims;
  return result;
}
inline void fence() {}
inline void pause() { std::this_thread::yield(); }
inline unsigned add_one(unsigned* counter) {
  return __atomic_fetch_add(counter, 1U, __ATOMIC_ACQ_REL);
}

inline std::uint64_t load_relaxed(const std::uint64_t* address) {
  return __atomic_load_n(address, __ATOMIC_RELAXED);
}
inline std::uint64_t load_acquire(const std::uint64_t* address) {
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
inline void store_relaxed(std::uint64_t* address, std::uint64_t value) {
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}
inline void store_relaxed_u32(unsigned* address, unsigned value) {
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}
inline void store_release(std::uint64_t* address, std::uint64_t value) {
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
inline Pair load_pair(const Pair* address) {
  return {load_relaxed(&address->low), load_relaxed(&address->high)};
}
inline void store_pair(Pair* address, const Pair& value) {
  store_relaxed(&address->low, value.low);
  store_relaxed(&address->high, value.high);
}

// Rounded to nearest, ties to even, as a GPU does.
struct Bfloat16 {
  std::uint16_t bits;
};
struct Float16 {
  std::uint16_t bits;
};

inline float to_float(float value) { return value; }
inline float to_float(Bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16U);
}
inline float to_float(Float16 value) {
  const int exponent = value.bits >> 10U & 31U;
  const int fraction = value.bits & 1023U;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (value.bits & 0x8000U) != 0 ? -magnitude : magnitude;
}
inline void from_float(float value, float& out) { out = value; }
inline void from_float(float value, Bfloat16& out) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  out.bits = static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}
// Of what a half holds: tests sum nothing else.
inline void from_float(float value, Float16& out) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int scale = std::max(exponent, -13) - 11;
  const auto fraction =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(std::fabs(value), -scale)));
  // A fraction of 2^11 carries into the exponent by itself.
  const std::uint32_t bits =
      fraction == 0 ? 0 : (static_cast<std::uint32_t>(scale + 24) << 10U) + fraction;
  out.bits = static_cast<std::uint16_t>(sign | bits);
}

}  // namespace lanewise::direct::device
