// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What NCCL makes of the values of its variables; pure. Read in NCCL's sources, 2.21 to 2.30.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nccl/nccl_release.hpp"

namespace lanewise {

// NCCL_ALGO or NCCL_PROTO: "Tree", "^LL", since 2.24 also "allreduce:tree,ring;broadcast:ring".
struct FilterVerdict {
  std::string unknown_word;  // a name that is none; empty: all are known
  bool needs_newer = false;  // has parts by collective, which releases before 2.24 do not take
  bool is_negated = false;   // a list that starts with ^
  bool names_ll128 = false;  // LL128 is in it without ^
  bool lacks_ring = false;   // leaves other collectives without an algorithm since 2.24
};
enum class FilterKind : std::uint8_t { algorithm, protocol };
[[nodiscard]] FilterVerdict judge_filter(std::string_view value, FilterKind kind,
                                         const NcclRelease& release);

// NCCL_P2P_LEVEL: a word in capitals or a number; NCCL ignores anything else.
[[nodiscard]] bool is_path_level(std::string_view value, const NcclRelease& release) noexcept;

// Of NCCL's variables the one that a user who wrote `name` meant: one letter wrong, missing or too
// many, or two swapped; none where nothing is that near.
[[nodiscard]] std::optional<std::string> find_similar_variable(std::string_view name);

}  // namespace lanewise
