// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// What `lanewise doctor` can find and what it found, as values; pure. A check of host/doctor has a
// table of kinds and makes findings of them.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

// In order of what it costs. broken: all-reduces hang, fail or may be wrong; slow: they take longer
// than this machine needs; unknown: it could not be read, and what to do to read it; note: worth
// knowing, nothing to mend.
enum class Severity : std::uint8_t { broken, slow, unknown, note };
[[nodiscard]] std::string_view name_of(Severity severity) noexcept;

// Texts may hold places like {bridge}, which a finding fills.
struct FindingKind {
  std::string_view name;  // "acs-redirect"
  Severity severity = Severity::note;
  std::string_view title;
  std::string_view why;   // why it matters for all-reduce
  std::string_view fix;   // commands, or words where there is no command; shown, never run
  std::string_view undo;  // empty: nothing to undo
};

// What was read: a file (or the name of a variable or command) and its value.
struct Observation {
  std::string path;
  std::string value;
  friend bool operator==(const Observation&, const Observation&) = default;
};

struct Finding {
  std::string name;
  Severity severity = Severity::note;
  std::string title;
  std::vector<Observation> seen;
  std::string why;
  std::string fix;
  std::string undo;
  std::vector<std::string> devices;  // PCI addresses it belongs to, for the picture
  friend bool operator==(const Finding&, const Finding&) = default;
};

using Places = std::map<std::string, std::string, std::less<>>;

// The kind with every {place} filled; a place without a value stays as it is.
[[nodiscard]] Finding make_finding(const FindingKind& kind, const Places& places,
                                   std::vector<Observation> seen,
                                   std::vector<std::string> devices = {});

struct Report {
  std::vector<Finding> findings;
  friend bool operator==(const Report&, const Report&) = default;

  [[nodiscard]] int count(Severity severity) const noexcept;
};

// The costliest first; within a severity as the checks came.
void sort_by_cost(Report& report);

// Whether what could not be read leaves the machine clean.
enum class Strictness : std::uint8_t { lenient, strict };

// 0 clean, 1 slow (strict: also unknown), 2 broken.
[[nodiscard]] int exit_status_of(const Report& report, Strictness strictness) noexcept;

}  // namespace lanewise
