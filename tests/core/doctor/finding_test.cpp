// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/doctor/finding.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

constexpr FindingKind kind = {.name = "kind",
                              .severity = Severity::slow,
                              .title = "{a} and {b}",
                              .why = "plain",
                              .fix = "echo {a",
                              .undo = "{c}{a}"};

TEST(Finding, FillsThePlacesItHasAndLeavesTheOthers) {
  const auto finding = make_finding(kind, {{"a", "one"}, {"b", "{a}"}}, {{"file", "value"}});

  EXPECT_EQ(finding.title, "one and {a}");
  EXPECT_EQ(finding.why, "plain");
  EXPECT_EQ(finding.fix, "echo {a");
  EXPECT_EQ(finding.undo, "{c}one");
}

Report report_of(std::initializer_list<Severity> severities) {
  Report report;
  for (const auto severity : severities)
    report.findings.push_back(
        {.name = std::to_string(report.findings.size()), .severity = severity});
  return report;
}

TEST(Finding, SortsByCostAndKeepsTheOrderWithinIt) {
  auto report = report_of({Severity::note, Severity::slow, Severity::broken, Severity::slow});

  sort_by_cost(report);

  std::string order;
  for (const auto& finding : report.findings) order += finding.name;
  EXPECT_EQ(order, "2130");
}

TEST(Finding, EndsWithTheWorst) {
  const auto status = [](std::initializer_list<Severity> severities, Strictness strictness) {
    return exit_status_of(report_of(severities), strictness);
  };

  EXPECT_EQ(status({}, Strictness::strict), 0);
  EXPECT_EQ(status({Severity::note}, Strictness::strict), 0);
  EXPECT_EQ(status({Severity::unknown}, Strictness::lenient), 0);
  EXPECT_EQ(status({Severity::unknown}, Strictness::strict), 1);
  EXPECT_EQ(status({Severity::slow}, Strictness::lenient), 1);
  EXPECT_EQ(status({Severity::slow, Severity::broken}, Strictness::lenient), 2);
}

}  // namespace
}  // namespace lanewise
