// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "conf_file.hpp"

#include "host/profile/tuner_csv.hpp"

namespace lanewise::bench {
namespace {

// A row for certain pipe_ops or registered buffers holds for some of the calls we time.
bool holds_for_every_call(const TunerRow& row) {
  return row.collective == Collective::all_reduce && row.nodes.value_or(1) == 1 && !row.pipe_ops &&
         !row.is_registered;
}

}  // namespace

std::optional<Choice> ConfFile::find(std::size_t bytes, int ranks) const {
  for (const ConfRule& rule : rules) {
    const bool fits_ranks = rule.ranks == -1 || rule.ranks == ranks;
    if (fits_ranks && rule.low <= bytes && bytes <= rule.high) return rule.choice;
  }
  return std::nullopt;
}

ConfFile read_conf_file(const std::string& path) {
  ConfFile file;
  for (const TunerRow& row : host::read_tuner_csv(path))
    if (holds_for_every_call(row))
      file.rules.push_back({row.bytes.low, row.bytes.high, row.choice, row.ranks.value_or(-1)});
  return file;
}

}  // namespace lanewise::bench
