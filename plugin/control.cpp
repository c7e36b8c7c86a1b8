// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "control.hpp"

#include <array>
#include <atomic>

#include "core/version.hpp"
#include "lanewise/control.h"
#include "translate.hpp"

namespace lanewise::plugin {

constinit std::atomic<std::uint32_t> control_word{0};

namespace {

// The whole state in one word, so that no call sees half of a change: bit 0 watched, bits 1-2 the
// arm, bit 3 forced, then bytes of algorithm, protocol and channels. 0: the interface is unused.
constexpr std::uint32_t watched_bit = 0x1;
constexpr std::uint32_t arm_mask = 0x6;
constexpr unsigned arm_shift = 1;
constexpr std::uint32_t forced_bit = 0x8;
constexpr std::uint32_t forced_mask = 0xffffff08;
constexpr unsigned algorithm_shift = 8;
constexpr unsigned protocol_shift = 16;
constexpr unsigned channels_shift = 24;
constexpr int max_channels = 64;

struct Answer {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::int32_t> collective{0};
  std::atomic<std::int32_t> algorithm{0};
  std::atomic<std::int32_t> protocol{0};
  std::atomic<std::int32_t> channels{0};
  std::atomic<std::int32_t> source{0};
  std::atomic<std::int32_t> is_applied{0};
};
constinit Answer latest;

void replace_bits(std::uint32_t mask, std::uint32_t bits) noexcept {
  std::uint32_t word = control_word.load(std::memory_order_relaxed);
  while (!control_word.compare_exchange_weak(word, (word & ~mask) | bits)) {
  }
}

int set_arm(int arm) noexcept {
  if (arm < LANEWISE_ARM_SETTINGS || arm > LANEWISE_ARM_OBSERVE) return 1;
  replace_bits(arm_mask, static_cast<std::uint32_t>(arm) << arm_shift);
  return 0;
}

int force(int algorithm, int protocol, int channels) noexcept {
  if (!to_algorithm(algorithm) || !to_protocol(protocol)) return 1;
  if (channels < 0 || channels > max_channels) return 1;
  replace_bits(forced_mask, forced_bit | static_cast<std::uint32_t>(algorithm) << algorithm_shift |
                                static_cast<std::uint32_t>(protocol) << protocol_shift |
                                static_cast<std::uint32_t>(channels) << channels_shift);
  return 0;
}

void release() noexcept { replace_bits(forced_mask, 0); }

void watch() noexcept {
  latest.calls.store(0);
  replace_bits(watched_bit, watched_bit);
}

int last_answer(lanewise_answer_v1* answer) noexcept {
  const std::uint64_t calls = latest.calls.load(std::memory_order_acquire);
  if (answer == nullptr || calls == 0) return 1;
  *answer = {.calls = calls,
             .bytes = latest.bytes.load(std::memory_order_relaxed),
             .collective = latest.collective.load(std::memory_order_relaxed),
             .algorithm = latest.algorithm.load(std::memory_order_relaxed),
             .protocol = latest.protocol.load(std::memory_order_relaxed),
             .channels = latest.channels.load(std::memory_order_relaxed),
             .source = latest.source.load(std::memory_order_relaxed),
             .is_applied = latest.is_applied.load(std::memory_order_relaxed)};
  return 0;
}

std::uint8_t byte_of(std::uint32_t word, unsigned shift) noexcept {
  return static_cast<std::uint8_t>(word >> shift & 0xff);
}

std::int32_t to_c(Source source) noexcept {
  constexpr std::array<std::int32_t, 4> sources = {LANEWISE_SOURCE_NONE, LANEWISE_SOURCE_PROFILE,
                                                   LANEWISE_SOURCE_MODEL, LANEWISE_SOURCE_FORCED};
  return sources[static_cast<std::size_t>(source)];
}

}  // namespace

std::optional<ControlState> read_control() noexcept {
  const std::uint32_t word = control_word.load(std::memory_order_relaxed);
  if (word == 0) return std::nullopt;
  ControlState state;
  state.arm = static_cast<ControlMode>((word & arm_mask) >> arm_shift);
  state.is_watched = (word & watched_bit) != 0;
  if ((word & forced_bit) != 0) {
    state.forced =
        Choice{static_cast<Algorithm>(byte_of(word, algorithm_shift)),
               static_cast<Protocol>(byte_of(word, protocol_shift)), byte_of(word, channels_shift)};
  }
  return state;
}

void record_answer(const Query& query, const std::optional<Choice>& choice, Source source,
                   Outcome outcome) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  latest.bytes.store(query.bytes, relaxed);
  latest.collective.store(to_nccl(query.collective), relaxed);
  latest.algorithm.store(choice ? to_nccl(choice->algorithm) : LANEWISE_UNKNOWN, relaxed);
  latest.protocol.store(choice ? to_nccl(choice->protocol) : LANEWISE_UNKNOWN, relaxed);
  latest.channels.store(choice ? choice->channels : 0, relaxed);
  latest.source.store(to_c(source), relaxed);
  latest.is_applied.store(outcome == Outcome::applied ? 1 : 0, relaxed);
  latest.calls.fetch_add(1, std::memory_order_release);
}

}  // namespace lanewise::plugin

extern "C" {
[[gnu::visibility("default")]] lanewise_control_v1_t lanewise_control_v1 = {
    .version = lanewise::version.data(),
    .set_arm = lanewise::plugin::set_arm,
    .force = lanewise::plugin::force,
    .release = lanewise::plugin::release,
    .watch = lanewise::plugin::watch,
    .last_answer = lanewise::plugin::last_answer,
};
}
