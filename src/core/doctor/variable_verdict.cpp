// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/variable_verdict.hpp"

#include <algorithm>
#include <array>

#include "core/letter_case.hpp"

namespace lanewise {
namespace {

constexpr NcclRelease per_collective_since{2, 24, 0};
constexpr NcclRelease c2c_since{2, 26, 0};
constexpr NcclRelease p2c_since{2, 27, 0};

constexpr std::array<std::string_view, 7> algorithms = {
    "tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"};
constexpr std::array<std::string_view, 3> protocols = {"ll", "ll128", "simple"};
constexpr std::array<std::string_view, 8> levels = {"LOC", "NVL", "NVB", "PIX",
                                                    "PXB", "PXN", "PHB", "SYS"};

// Those that people set for one machine.
constexpr std::array<std::string_view, 40> variables = {"NCCL_ALGO",
                                                        "NCCL_BUFFSIZE",
                                                        "NCCL_CHECK_POINTERS",
                                                        "NCCL_CONF_FILE",
                                                        "NCCL_CUMEM_ENABLE",
                                                        "NCCL_CUMEM_HOST_ENABLE",
                                                        "NCCL_DEBUG",
                                                        "NCCL_DEBUG_FILE",
                                                        "NCCL_DEBUG_SUBSYS",
                                                        "NCCL_ENV_PLUGIN",
                                                        "NCCL_GRAPH_FILE",
                                                        "NCCL_GRAPH_REGISTER",
                                                        "NCCL_HOSTID",
                                                        "NCCL_IB_DISABLE",
                                                        "NCCL_LAUNCH_MODE",
                                                        "NCCL_LL128_BUFFSIZE",
                                                        "NCCL_LL_BUFFSIZE",
                                                        "NCCL_MAX_CTAS",
                                                        "NCCL_MAX_NCHANNELS",
                                                        "NCCL_MIN_CTAS",
                                                        "NCCL_MIN_NCHANNELS",
                                                        "NCCL_NET",
                                                        "NCCL_NET_GDR_LEVEL",
                                                        "NCCL_NET_PLUGIN",
                                                        "NCCL_NTHREADS",
                                                        "NCCL_NVLS_ENABLE",
                                                        "NCCL_P2P_DISABLE",
                                                        "NCCL_P2P_DIRECT_DISABLE",
                                                        "NCCL_P2P_LEVEL",
                                                        "NCCL_P2P_USE_CUDA_MEMCPY",
                                                        "NCCL_PROFILER_PLUGIN",
                                                        "NCCL_PROTO",
                                                        "NCCL_SHM_DISABLE",
                                                        "NCCL_SHM_USE_CUDA_MEMCPY",
                                                        "NCCL_SOCKET_IFNAME",
                                                        "NCCL_THREAD_THRESHOLDS",
                                                        "NCCL_TOPO_DUMP_FILE",
                                                        "NCCL_TOPO_FILE",
                                                        "NCCL_TUNER_PLUGIN",
                                                        "NCCL_WIN_ENABLE"};

template <typename Function>
void for_each_part(std::string_view text, char separator, Function function) {
  for (;;) {
    const auto end = text.find(separator);
    function(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

bool is_known(std::string_view word, FilterKind kind) {
  return kind == FilterKind::algorithm ? std::ranges::find(algorithms, word) != algorithms.end()
                                       : std::ranges::find(protocols, word) != protocols.end();
}

// One list, without its collective.
void judge_list(std::string_view list, FilterKind kind, FilterVerdict& verdict) {
  const bool is_negated = list.starts_with('^');
  if (is_negated) list.remove_prefix(1);
  bool has_ring = is_negated;
  for_each_part(list, ',', [&](std::string_view word) {
    if (!is_known(word, kind) && verdict.unknown_word.empty()) verdict.unknown_word = word;
    if (word == "ring") has_ring = !is_negated;
    if (word == "ll128" && !is_negated) verdict.names_ll128 = true;
  });
  verdict.is_negated |= is_negated;
  if (kind == FilterKind::algorithm && !has_ring) verdict.lacks_ring = true;
}

// Two equal texts but for one letter changed, missing, added, or two neighbours swapped.
bool is_near(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  const auto differ = std::ranges::mismatch(one, other);
  const auto start = static_cast<std::size_t>(differ.in1 - one.begin());
  const auto left = one.substr(start);
  const auto right = other.substr(start);
  if (one.size() + 1 == other.size()) return left == right.substr(1);
  if (one.size() != other.size() || left.empty()) return false;
  if (left.substr(1) == right.substr(1)) return true;
  return left.size() > 1 && left[0] == right[1] && left[1] == right[0] &&
         left.substr(2) == right.substr(2);
}

}  // namespace

FilterVerdict judge_filter(std::string_view value, FilterKind kind, const NcclRelease& release) {
  FilterVerdict verdict;
  const auto text = to_lower(value);
  const bool has_collectives = text.find(':') != std::string::npos;
  verdict.needs_newer = has_collectives && release < per_collective_since;
  for_each_part(text, ';', [&](std::string_view part) {
    const auto colon = part.find(':');
    const auto list = colon == std::string_view::npos ? part : part.substr(colon + 1);
    if (!list.empty()) judge_list(list, kind, verdict);
  });
  // With parts by collective the others keep all algorithms.
  if (has_collectives || release < per_collective_since) verdict.lacks_ring = false;
  return verdict;
}

bool is_path_level(std::string_view value, const NcclRelease& release) noexcept {
  if (!value.empty() && value.front() >= '0' && value.front() <= '9') return true;
  if (value == "C2C") return release >= c2c_since;
  if (value == "P2C") return release >= p2c_since;
  return std::ranges::find(levels, value) != levels.end();
}

std::optional<std::string> find_similar_variable(std::string_view name) {
  for (const auto variable : variables) {
    if (variable != name && is_near(name, variable)) return std::string(variable);
  }
  return std::nullopt;
}

}  // namespace lanewise
