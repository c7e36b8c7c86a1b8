// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/profile_variable.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/nccl/choice.hpp"

namespace lanewise {
namespace {

constexpr auto channels = VariableEffect::channels;
// Far above what a release takes: they catch a slip of the hand.
constexpr long long most_channels = 1024;
constexpr long long most_threads = 1024;
constexpr long long most_bytes = 1LL << 30U;

constexpr ProfileVariable flag(std::string_view name) {
  return {.name = name, .low = 0, .high = 1, .neutral = "0"};
}
constexpr ProfileVariable whole(std::string_view name, long long low, long long high,
                                std::string_view neutral = {}) {
  return {.name = name, .low = low, .high = high, .neutral = neutral};
}
constexpr ProfileVariable bound(std::string_view name) {
  return {.name = name, .effect = channels, .low = 1, .high = most_channels};
}
constexpr ProfileVariable of_kind(std::string_view name, ValueKind kind) {
  return {.name = name, .kind = kind};
}

// Left out with a reason:
// - NCCL_CUMEM_ENABLE, NCCL_CUMEM_HOST_ENABLE: they change how a buffer is mapped, not the path its
//   bytes take, and engines set them after their start, where no bench could have seen them.
// - NCCL_NVLS_ENABLE, NCCL_COLLNET_ENABLE: both need hardware that Lanewise leaves alone.
// - NCCL_MULTI_RANK_GPU_ENABLE: allows a communicator; the group's GPUs say the rest.
// - NCCL_IB_*, NCCL_SOCKET_*, NCCL_NET_*, NCCL_CROSS_NIC: between nodes; Lanewise stays inside one.
// - NCCL_DEBUG_*: no part in a transfer. *_PLUGIN, NCCL_CONF_FILE: they load code or other values.
constexpr std::array variables = {
    // Transport.
    flag("NCCL_P2P_DISABLE"), of_kind("NCCL_P2P_LEVEL", ValueKind::level),
    flag("NCCL_P2P_DIRECT_DISABLE"), whole("NCCL_P2P_READ_ENABLE", 0, 1),
    flag("NCCL_P2P_USE_CUDA_MEMCPY"), flag("NCCL_SHM_DISABLE"), flag("NCCL_SHM_USE_CUDA_MEMCPY"),
    whole("NCCL_SHM_MEMCPY_MODE", 1, 3, "1"), whole("NCCL_SHM_LOCALITY", 1, 2, "2"),
    // Rings, trees and their channels.
    of_kind("NCCL_GRAPH_FILE", ValueKind::file), of_kind("NCCL_TOPO_FILE", ValueKind::file),
    bound("NCCL_MIN_NCHANNELS"), bound("NCCL_MAX_NCHANNELS"), bound("NCCL_MIN_NRINGS"),
    bound("NCCL_MAX_NRINGS"), bound("NCCL_MIN_CTAS"), bound("NCCL_MAX_CTAS"),
    of_kind("NCCL_CTA_POLICY", ValueKind::policy), whole("NCCL_CGA_CLUSTER_SIZE", 0, 16),
    // Threads and buffers.
    whole("NCCL_NTHREADS", 1, most_threads), whole("NCCL_LL128_NTHREADS", 1, most_threads),
    of_kind("NCCL_THREAD_THRESHOLDS", ValueKind::thresholds), whole("NCCL_BUFFSIZE", 1, most_bytes),
    whole("NCCL_LL_BUFFSIZE", 1, most_bytes), whole("NCCL_LL128_BUFFSIZE", 1, most_bytes),
    // Which entries are priced at all.
    of_kind("NCCL_ALGO", ValueKind::algorithms), of_kind("NCCL_PROTO", ValueKind::protocols),
    // Whether NCCL registers buffers, which engines decide for themselves: it should not change the
    // order of an all-reduce's choices over PCIe. Measured once, beside another process on that
    // GPU.
    ProfileVariable{"NCCL_GRAPH_REGISTER", VariableEffect::none, ValueKind::whole, 0, 1, {}},
    ProfileVariable{"NCCL_LOCAL_REGISTER", VariableEffect::none, ValueKind::whole, 0, 2, {}}};

constexpr std::array<std::string_view, 9> levels = {"LOC", "NVL", "NVB", "PIX", "PXB",
                                                    "PXN", "P2C", "PHB", "SYS"};
constexpr std::array<std::string_view, 3> policies = {"DEFAULT", "EFFICIENCY", "ZERO"};
constexpr std::array<std::string_view, 5> functions = {"broadcast", "reduce", "allgather",
                                                       "reducescatter", "allreduce"};

bool contains(std::span<const std::string_view> words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<long long> read_decimal(std::string_view text) noexcept {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_digit(std::string_view text) noexcept {
  return text.size() == 1 && text[0] >= '0' && text[0] <= '9';
}

// Whether `is_word` holds for each piece of `text` between the signs; empty pieces are none.
template <typename IsWord>
bool holds_only(std::string_view text, std::string_view signs, const IsWord& is_word) {
  bool has_word = false;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(signs), text.size());
    const auto word = text.substr(0, end);
    if (!word.empty() && !is_word(word)) return false;
    has_word = has_word || !word.empty();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return has_word;
}

// "^ring", "ring,tree" and, by collective, "allreduce:ring;broadcast:tree".
template <typename IsWord>
bool is_list(std::string_view text, const IsWord& is_word) {
  return holds_only(text, ",;:^", [&](std::string_view word) {
    return is_word(word) || contains(functions, word);
  });
}

bool are_thresholds(std::string_view text) {
  constexpr int most = 6;  // rows tree and ring, columns LL, LL128, Simple
  return std::count(text.begin(), text.end(), ' ') < most &&
         holds_only(text, " ", [](std::string_view word) {
           const auto number = read_decimal(word);
           return number && *number >= -1 && *number <= most_bytes;
         });
}

bool is_taken(const ProfileVariable& variable, std::string_view value) {
  switch (variable.kind) {
    case ValueKind::whole: {
      const auto number = read_decimal(value);
      return number && *number >= variable.low && *number <= variable.high;
    }
    case ValueKind::level:
      return contains(levels, value) || is_digit(value);
    case ValueKind::policy:
      return is_digit(value) ||
             holds_only(value, "|", [](auto word) { return contains(policies, word); });
    case ValueKind::thresholds:
      return are_thresholds(value);
    case ValueKind::algorithms:
      return is_list(value, [](auto word) { return parse_algorithm(word).has_value(); });
    case ValueKind::protocols:
      return is_list(value, [](auto word) { return parse_protocol(word).has_value(); });
    case ValueKind::file:
      return value.size() > 1 && value.front() == '/';
  }
  return false;
}

std::string describe(const ProfileVariable& variable) {
  switch (variable.kind) {
    case ValueKind::whole:
      return "a whole number from " + std::to_string(variable.low) + " to " +
             std::to_string(variable.high);
    case ValueKind::level:
      return "LOC, NVL, NVB, PIX, PXB, PXN, P2C, PHB or SYS";
    case ValueKind::policy:
      return "DEFAULT, EFFICIENCY or ZERO";
    case ValueKind::thresholds:
      return "up to six whole numbers, as \"8 8 64 8 8 64\"";
    case ValueKind::algorithms:
      return "NCCL's algorithms, as \"ring,tree\"";
    case ValueKind::protocols:
      return "NCCL's protocols, as \"LL,Simple\"";
    case ValueKind::file:
      break;
  }
  return "the absolute path of a file";
}

}  // namespace

std::span<const ProfileVariable> profile_variables() noexcept { return variables; }

const ProfileVariable* find_profile_variable(std::string_view name) noexcept {
  const auto* found = std::find_if(variables.begin(), variables.end(),
                                   [&](const auto& variable) { return variable.name == name; });
  return found == variables.end() ? nullptr : found;
}

std::string find_value_fault(const ProfileVariable& variable, std::string_view value) {
  return is_taken(variable, value) ? "" : describe(variable);
}

std::optional<long long> read_whole(std::string_view value) noexcept {
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  if (value.starts_with('+')) value.remove_prefix(1);
  int base = 10;
  if (value.starts_with("0x") || value.starts_with("0X")) {
    base = 16;
    value.remove_prefix(2);
  } else if (value.starts_with('0')) {
    base = 8;
  }
  long long number = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number, base);
  if (error != std::errc{} || number < 0) return std::nullopt;
  return number;
}

std::string normalize(const ProfileVariable& variable, const std::string& value) {
  std::string text = value;
  if (variable.kind == ValueKind::whole) {
    const auto number = read_whole(value);
    text = number ? std::to_string(*number) : "";
  }
  return text == variable.neutral ? "" : text;
}

}  // namespace lanewise
