// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "profile/fit_json.hpp"

#include <array>
#include <bit>

namespace lanewise::host {
namespace {

constexpr double most_us = 1e6;  // of one term

struct Series {
  std::string_view name;
  LatencyTerms LatencyConstants::*terms;
};
constexpr std::array all_series = {Series{"tree_ll", &LatencyConstants::tree_ll},
                                   Series{"tree_simple", &LatencyConstants::tree_simple},
                                   Series{"ring_ll", &LatencyConstants::ring_ll},
                                   Series{"ring_simple", &LatencyConstants::ring_simple}};

LatencyTerms read_terms(const JsonField& field) {
  const auto items = field.items();
  TermFactors values{};
  if (items.size() != values.size())
    field.fail("[base, hop, wave, slice KiB, fill KiB, block, KiB] in microseconds");
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = items[i].number(0, most_us);
  const auto terms = std::bit_cast<LatencyTerms>(values);
  if (terms == LatencyTerms{}) field.fail("a term above zero");
  return terms;
}

std::size_t read_bytes(const JsonField& field) {
  return static_cast<std::size_t>(field.whole(1, most_bytes));
}

}  // namespace

MachineFit read_fit(const JsonField& field, const NcclRelease& nccl) {
  field.expect_only({"channels", "bytes", "largest_tree_bytes", "tree_ll", "tree_simple", "ring_ll",
                     "ring_simple"});
  MachineFit fit;
  fit.channels = static_cast<int>(field.at("channels").whole(1, nccl.max_channels()));
  const auto range = field.at("bytes");
  const auto ends = range.items();
  if (ends.size() != 2) range.fail("[low, high]");
  fit.smallest_bytes = read_bytes(ends[0]);
  fit.largest_bytes = read_bytes(ends[1]);
  if (fit.largest_bytes < fit.smallest_bytes) range.fail("the lower end first");
  fit.constants.largest_tree_bytes = read_bytes(field.at("largest_tree_bytes"));
  for (const auto& series : all_series)
    fit.constants.*series.terms = read_terms(field.at(series.name));
  return fit;
}

std::string format_fit(const MachineFit& fit) {
  std::string text = R"({"channels": )" + std::to_string(fit.channels) + R"(, "bytes": [)" +
                     std::to_string(fit.smallest_bytes) + ", " + std::to_string(fit.largest_bytes) +
                     R"(], "largest_tree_bytes": )" +
                     std::to_string(fit.constants.largest_tree_bytes);
  for (const auto& series : all_series) {
    std::string values;
    for (const double value : std::bit_cast<TermFactors>(fit.constants.*series.terms))
      values += (values.empty() ? "" : ", ") + format_json_number(value);
    text += ",\n        \"";
    text += series.name;
    text += "\": [" + values + ']';
  }
  return text + '}';
}

}  // namespace lanewise::host
