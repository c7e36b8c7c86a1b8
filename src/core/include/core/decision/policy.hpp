// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The one question: which choice for this call, or none. Implementations never
// change once made: the same call gets the same answer. Deciding never allocates, locks or throws.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/nccl/choice.hpp"
#include "core/nccl/collective.hpp"
#include "core/nccl/cost_table.hpp"

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

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // No answer means that NCCL keeps its own choice. An empty table (tuner v2) is allowed.
  [[nodiscard]] virtual std::optional<Decision> decide(const Query& query,
                                                       const CostTable& table) noexcept = 0;
};

}  // namespace lanewise
