// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "explain_output.hpp"

#include <cstdio>

#include "host/json.hpp"

namespace lanewise::cli {
namespace {

constexpr int json_version = 1;

std::string text_of(const std::optional<ExplainedChoice>& choice) {
  return choice ? to_string(choice->choice) : "-";
}

std::string text_of_waves(const std::optional<ExplainedChoice>& choice) {
  return choice && choice->waves ? std::to_string(*choice->waves) : "-";
}

std::string fixed(double value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string text_of_time(const std::optional<ExplainedChoice>& choice) {
  return choice && choice->predicted_us ? fixed(*choice->predicted_us, "%.1f") : "-";
}

std::string text_of_gain(const Explanation& explanation) {
  const auto& [stock, chosen, source, reason] = explanation;
  if (!stock || !chosen || !stock->predicted_us || !chosen->predicted_us) return "-";
  return fixed(*stock->predicted_us / *chosen->predicted_us, "%.2f");
}

void print_row(const ExplainedSize& row) {
  const Explanation& explanation = row.explanation;
  std::printf("%9zu  %-15s %5s %8s  %-15s %5s %8s  %5s  %-7s  %s\n", row.bytes,
              text_of(explanation.stock).c_str(), text_of_waves(explanation.stock).c_str(),
              text_of_time(explanation.stock).c_str(), text_of(explanation.chosen).c_str(),
              text_of_waves(explanation.chosen).c_str(), text_of_time(explanation.chosen).c_str(),
              text_of_gain(explanation).c_str(), std::string(name_of(explanation.source)).c_str(),
              explanation.reason.c_str());
}

std::string json_of(const std::optional<ExplainedChoice>& choice) {
  if (!choice) return "null";
  const auto& [what, waves, us] = *choice;
  return R"({"algorithm":")" + std::string(name_of(what.algorithm)) + R"(","protocol":")" +
         std::string(name_of(what.protocol)) + R"(","channels":)" + std::to_string(what.channels) +
         R"(,"waves":)" + (waves ? std::to_string(*waves) : "null") + R"(,"predicted_us":)" +
         (us ? fixed(*us, "%.2f") : "null") + "}";
}

}  // namespace

void print_text(const ExplainReport& report) {
  std::printf("%s, %d ranks, NCCL %s, %d channels; prices: %s\n", report.machine.c_str(),
              report.ranks, to_string(report.nccl).c_str(), report.channels, report.prices.c_str());
  for (const auto& remark : report.remarks) std::printf("%s\n", remark.c_str());
  std::printf("\n%9s  %-15s %5s %8s  %-15s %5s %8s  %5s  %-7s  %s\n", "bytes", "NCCL", "waves",
              "us", "Lanewise", "waves", "us", "gain", "source", "reason");
  for (const auto& row : report.sizes) print_row(row);
}

void print_json(const ExplainReport& report) {
  std::printf(
      "{\"schema_version\":%d,\"machine\":%s,\"nccl\":\"%s\",\"ranks\":%d,"
      "\"channels\":%d,\"prices\":%s,\"rows\":[",
      json_version, host::quote_json(report.machine).c_str(), to_string(report.nccl).c_str(),
      report.ranks, report.channels, host::quote_json(report.prices).c_str());
  const char* separator = "\n";
  for (const auto& [bytes, explanation] : report.sizes) {
    std::printf("%s{\"bytes\":%zu,\"stock\":%s,\"choice\":%s,\"source\":\"%s\",\"reason\":%s}",
                separator, bytes, json_of(explanation.stock).c_str(),
                json_of(explanation.chosen).c_str(),
                std::string(name_of(explanation.source)).c_str(),
                host::quote_json(explanation.reason).c_str());
    separator = ",\n";
  }
  std::printf("\n]}\n");
}

}  // namespace lanewise::cli
