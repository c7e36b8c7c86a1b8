// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/nccl/cost_filter.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace lanewise {
namespace {

constexpr NcclRelease first_release_with_functions = {2, 24, 0};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_all_reduce(std::string_view function) noexcept {
  constexpr std::string_view name = "allreduce";
  return std::ranges::equal(function, name, [](char a, char b) { return (a | 0x20) == b; });
}

// The part of "allreduce:ring;broadcast:tree" that is for an all-reduce; the last one counts.
std::string_view part_for_all_reduce(std::string_view text) {
  std::string_view found;
  for (const auto part : split(text, ';')) {
    const auto colon = part.find(':');
    if (colon == std::string_view::npos) found = part;
    if (colon != std::string_view::npos && is_all_reduce(part.substr(0, colon)))
      found = part.substr(colon + 1);
  }
  return found;
}

struct Variable {
  std::string_view name;
  std::string_view value;
  const NcclRelease& release;
};

template <typename Parse, std::size_t Count>
void apply(const Variable& variable, Parse parse, std::array<bool, Count>& allowed) {
  const bool has_functions = variable.release >= first_release_with_functions;
  auto list = has_functions ? part_for_all_reduce(variable.value) : variable.value;
  if (list.empty()) return;
  const bool forbids = list.starts_with('^');
  if (forbids) list.remove_prefix(1);
  allowed.fill(forbids);
  for (const auto word : split(list, ',')) {
    if (const auto entry = parse(word))
      allowed[static_cast<std::size_t>(*entry)] = !forbids;
    else if (has_functions)
      throw Error(std::string(variable.name) + "=" + std::string(variable.value) + ": NCCL " +
                  to_string(variable.release) + " refuses the word \"" + std::string(word) +
                  "\", and every communicator fails");
  }
}

}  // namespace

CostFilter parse_cost_filter(std::string_view algorithms, std::string_view protocols,
                             const NcclRelease& release) {
  CostFilter filter;
  filter.algorithms.fill(true);
  filter.protocols.fill(true);
  apply({"NCCL_ALGO", algorithms, release}, parse_algorithm, filter.algorithms);
  apply({"NCCL_PROTO", protocols, release}, parse_protocol, filter.protocols);
  const bool is_chosen = !protocols.empty() && filter.protocols[1];
  filter.ll128 = is_chosen ? Ll128Pricing::priced : Ll128Pricing::forbidden;
  return filter;
}

CostArray filter_costs(const CostFilter& filter, CostArray costs) noexcept {
  for (std::size_t row = 0; row < algorithm_count; ++row)
    for (std::size_t column = 0; column < protocol_count; ++column)
      if (!filter.algorithms[row] || !filter.protocols[column])
        costs[row * protocol_count + column] = -1.0F;
  return costs;
}

}  // namespace lanewise
