// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#pragma once

// How `lanewise explain` prints: tables for people, JSON for programs.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/decision/explanation.hpp"
#include "core/profile/environment_standing.hpp"
#include "host/engines/models_file.hpp"

namespace lanewise::cli {

struct ExplainedSize {
  std::size_t bytes = 0;
  Explanation explanation;
  std::optional<Explanation> with_best;  // where the best environment is not in force
};

// The environment layer of a profile.
struct ExplainedEnvironments {
  std::string profile;  // its file
  NcclRelease measured_with;
  EnvironmentStanding standing;
  EnvironmentCarrier carrier = EnvironmentCarrier::nobody;
  std::string command;  // what applies the best one
  std::vector<std::string> remarks_with_best;
};

// What a step of a model makes of the calls: one row a number of tokens, in the order of `sizes`.
struct ExplainedModel {
  host::ModelShape shape;
  std::vector<std::size_t> tokens;
};

struct ExplainReport {
  std::string machine;
  NcclRelease nccl;
  int ranks = 0;
  int channels = 0;
  std::optional<int> channels_with_best;
  std::string costs;                                  // where they come from
  std::vector<std::string> remarks;                   // what holds for all sizes
  std::optional<ExplainedEnvironments> environments;  // nullopt: no profile
  std::vector<ExplainedSize> sizes;
  std::optional<ExplainedModel> model;
};

// "97", "230", "1.4": no prediction is known to more digits.
[[nodiscard]] std::string two_digits(double value);

void print_text(const ExplainReport& report);
// {"schema_version":1,"machine","nccl","ranks","channels","prices","remarks":[..],
// "environment_layer":{"profile","nccl","in_force":{"variables":{..},"speedup","memory_bytes"}|null,
// "not_set":{..},"difference","best":{..}|null,"is_best_in_force","set_by_run":{..},"remarks":[..],
// "channels_with_best"}|null,
// "rows":[{"bytes","stock":{"algorithm","protocol","channels","waves","predicted_us",
// "interval_us":[low,high]},"choice":{..}|null,"gain":[low,high]|null,"source","reason",
// "with_best":{"stock","choice","gain","source","reason"}|null}]}, and with --model before the rows
// "model":{"name","hidden","layers","calls"}: a step's time is `calls` times a row's.
void print_json(const ExplainReport& report);

}  // namespace lanewise::cli
