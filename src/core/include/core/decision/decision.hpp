// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The one question and its answer: which choice for this call.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/nccl/choice.hpp"
#include "core/nccl/collective.hpp"

namespace lanewise {

// `bytes` as NCCL gives it: count times the type's size (times ranks for all_gather and
// reduce_scatter), of the whole group of merged calls.
struct Query {
  Collective collective = Collective::all_reduce;
  std::size_t bytes = 0;
  int ranks = 0;
  int nodes = 1;
  int pipe_ops = 1;
};

enum class Source : std::uint8_t { none, profile, model, forced };
[[nodiscard]] std::string_view name_of(Source source) noexcept;

struct Decision {
  Choice choice;
  Source source = Source::none;
  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace lanewise
