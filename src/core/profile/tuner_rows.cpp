// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/profile/tuner_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace lanewise {
namespace {

bool speaks_of(const TunerRow& row, int ranks) {
  return row.collective == Collective::all_reduce && row.nodes.value_or(1) == 1 &&
         row.ranks.value_or(ranks) == ranks && !row.pipe_ops && !row.is_registered;
}

// Sizes where a row starts or the one after its end: between two of them nothing changes.
std::vector<std::size_t> find_edges(std::span<const TunerRow> rows) {
  std::vector<std::size_t> edges;
  for (const TunerRow& row : rows) {
    edges.push_back(std::max<std::size_t>(row.bytes.low, 1));  // an all-reduce has bytes
    if (row.bytes.high < std::numeric_limits<std::size_t>::max())
      edges.push_back(row.bytes.high + 1);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

const TunerRow* find_first(std::span<const TunerRow> rows, std::size_t bytes) {
  const auto row = std::find_if(rows.begin(), rows.end(), [bytes](const TunerRow& candidate) {
    return candidate.bytes.low <= bytes && bytes <= candidate.bytes.high;
  });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

RowRules rules_of(std::span<const TunerRow> rows, int ranks) {
  RowRules result;
  std::vector<TunerRow> fitting;
  for (const TunerRow& row : rows) {
    if (speaks_of(row, ranks))
      fitting.push_back(row);
    else
      result.ignored_lines.push_back(row.line);
  }
  std::vector<Rule> rules;
  const auto edges = find_edges(fitting);
  const TunerRow* previous = nullptr;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const TunerRow* row = find_first(fitting, edges[i]);
    if (row != nullptr) {
      const std::size_t high =
          i + 1 < edges.size() ? std::min(edges[i + 1] - 1, row->bytes.high) : row->bytes.high;
      if (row == previous)
        rules.back().bytes.high = high;
      else
        rules.push_back({.bytes = {edges[i], high}, .choice = row->choice});
    }
    previous = row;
  }
  result.rules = RuleSet(std::move(rules));
  return result;
}

std::vector<TunerRow> rows_of(const TunedEnvironment& environment) {
  std::vector<TunerRow> rows;
  for (const GpuGroup& group : environment.groups) {
    for (const TunerRow& other : rows)
      if (other.ranks == group.ranks)
        throw Error("two groups of " + std::to_string(group.ranks) +
                    " ranks: expected one, as NVIDIA's CSV cannot tell their GPUs apart");
    std::vector<TunerRow> of_group;
    for (const Rule& rule : group.rules.rules())
      of_group.push_back(
          {.bytes = rule.bytes, .choice = rule.choice, .nodes = 1, .ranks = group.ranks});
    rows.insert(rows.end(), of_group.begin(), of_group.end());
  }
  return rows;
}

}  // namespace lanewise
