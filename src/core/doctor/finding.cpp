// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/finding.hpp"

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 4> severity_names = {"broken", "slow", "unknown", "note"};

std::string fill(std::string_view text, const Places& places) {
  std::string filled;
  while (!text.empty()) {
    const auto open = std::min(text.find('{'), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const auto close = text.find('}');
    const auto place =
        close == std::string_view::npos ? places.end() : places.find(text.substr(1, close - 1));
    if (place == places.end()) {
      filled += '{';
      text.remove_prefix(1);
      continue;
    }
    filled += place->second;
    text.remove_prefix(close + 1);
  }
  return filled;
}

}  // namespace

std::string_view name_of(Severity severity) noexcept {
  return severity_names[static_cast<std::size_t>(severity)];
}

Finding make_finding(const FindingKind& kind, const Places& places, std::vector<Observation> seen,
                     std::vector<std::string> devices) {
  return {.name = std::string(kind.name),
          .severity = kind.severity,
          .title = fill(kind.title, places),
          .seen = std::move(seen),
          .why = fill(kind.why, places),
          .fix = fill(kind.fix, places),
          .undo = fill(kind.undo, places),
          .devices = std::move(devices)};
}

int Report::count(Severity severity) const noexcept {
  return static_cast<int>(std::ranges::count(findings, severity, &Finding::severity));
}

void sort_by_cost(Report& report) {
  std::ranges::stable_sort(report.findings, {}, &Finding::severity);
}

int exit_status_of(const Report& report, Strictness strictness) noexcept {
  if (report.count(Severity::broken) > 0) return 2;
  const bool is_short = strictness == Strictness::strict && report.count(Severity::unknown) > 0;
  return report.count(Severity::slow) > 0 || is_short ? 1 : 0;
}

}  // namespace lanewise
