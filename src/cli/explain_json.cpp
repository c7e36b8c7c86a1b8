// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <cstdio>

#include "explain_output.hpp"
#include "host/files/json.hpp"

namespace lanewise::cli {
namespace {

constexpr int json_version = 1;

using host::quote_json;

std::string fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string json_of(const std::optional<Interval>& interval) {
  if (!interval) return "null";
  return "[" + two_digits(interval->low) + "," + two_digits(interval->high) + "]";
}

std::string json_of(const std::optional<ExplainedChoice>& choice) {
  if (!choice) return "null";
  const auto& what = choice->choice;
  const auto waves = choice->waves ? std::to_string(*choice->waves) : "null";
  const auto us = choice->predicted_us ? two_digits(*choice->predicted_us) : "null";
  return R"({"algorithm":")" + std::string(name_of(what.algorithm)) + R"(","protocol":")" +
         std::string(name_of(what.protocol)) + R"(","channels":)" + std::to_string(what.channels) +
         R"(,"waves":)" + waves + R"(,"predicted_us":)" + us + R"(,"interval_us":)" +
         json_of(choice->interval_us) + "}";
}

// The members of an object, without its braces.
std::string members_of(const Explanation& explanation) {
  return R"("stock":)" + json_of(explanation.stock) + R"(,"choice":)" +
         json_of(explanation.chosen) + R"(,"gain":)" + json_of(explanation.gain) +
         R"(,"source":")" + std::string(name_of(explanation.source)) + R"(","reason":)" +
         quote_json(explanation.reason);
}

std::string json_of(const ExplainedSize& row) {
  return R"({"bytes":)" + std::to_string(row.bytes) + "," + members_of(row.explanation) +
         R"(,"with_best":)" + (row.with_best ? "{" + members_of(*row.with_best) + "}" : "null") +
         "}";
}

std::string json_of(const Environment& variables) {
  std::string text = "{";
  for (const auto& [name, value] : variables)
    text += (text.size() > 1 ? "," : "") + quote_json(name) + ":" + quote_json(value);
  return text + "}";
}

std::string json_of(const TunedEnvironment* environment) {
  if (environment == nullptr) return "null";
  return R"({"variables":)" + json_of(environment->variables) + R"(,"speedup":)" +
         fixed(environment->speedup) + R"(,"memory_bytes":)" +
         std::to_string(environment->memory_bytes) + "}";
}

std::string json_of(const std::vector<std::string>& lines) {
  std::string text = "[";
  for (const auto& line : lines) text += (text.size() > 1 ? "," : "") + quote_json(line);
  return text + "]";
}

std::string json_of(const std::optional<ExplainedEnvironments>& environments,
                    const std::optional<int>& channels_with_best) {
  if (!environments) return "null";
  const auto& standing = environments->standing;
  Environment added;
  for (const auto& variable : standing.launch.variables)
    added.emplace(variable.name, variable.value);
  const bool is_best = standing.best != nullptr && standing.best == standing.in_force;
  return R"({"profile":)" + quote_json(environments->profile) + R"(,"nccl":")" +
         to_string(environments->measured_with) + R"(","in_force":)" + json_of(standing.in_force) +
         R"(,"not_set":)" + json_of(standing.not_set) + R"(,"difference":)" +
         quote_json(standing.difference) + R"(,"best":)" + json_of(standing.best) +
         R"(,"is_best_in_force":)" + (is_best ? "true" : "false") + R"(,"set_by_run":)" +
         json_of(added) + R"(,"remarks":)" + json_of(standing.launch.remarks) +
         R"(,"channels_with_best":)" +
         (channels_with_best ? std::to_string(*channels_with_best) : "null") + "}";
}

std::string json_of(const std::optional<ExplainedModel>& model) {
  if (!model) return {};
  const auto& shape = model->shape;
  return R"("model":{"name":)" + quote_json(shape.name) + R"(,"hidden":)" +
         std::to_string(shape.hidden) + R"(,"layers":)" + std::to_string(shape.layers) +
         R"(,"calls":)" + std::to_string(shape.calls()) + "},\n";
}

}  // namespace

void print_json(const ExplainReport& report) {
  std::printf(
      "{\"schema_version\":%d,\"machine\":%s,\"nccl\":\"%s\",\"ranks\":%d,"
      "\"channels\":%d,\"prices\":%s,\n\"remarks\":%s,\n\"environment_layer\":%s,\n%s\"rows\":[",
      json_version, quote_json(report.machine).c_str(), to_string(report.nccl).c_str(),
      report.ranks, report.channels, quote_json(report.costs).c_str(),
      json_of(report.remarks).c_str(),
      json_of(report.environments, report.channels_with_best).c_str(),
      json_of(report.model).c_str());
  const char* separator = "\n";
  for (const auto& row : report.sizes) {
    std::printf("%s%s", separator, json_of(row).c_str());
    separator = ",\n";
  }
  std::printf("\n]}\n");
}

}  // namespace lanewise::cli
