// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor_report.hpp"

namespace lanewise::cli {
namespace {

constexpr const char* introduction =
    "# What lanewise doctor can find\n\n"
    "Made by `lanewise doctor --list`; a test compares it. Words in braces are filled in on the\n"
    "machine. **broken**: all-reduces hang, fail or may be wrong. **slow**: they take longer than\n"
    "this machine needs. **unknown**: it could not be read. **note**: nothing to mend.\n";

std::string to_text(const FindingKind& kind) {
  std::string text = "\n### " + std::string(kind.name) + "\n\n**" +
                     std::string(name_of(kind.severity)) + "**: " + std::string(kind.title) +
                     "\n\n" + std::string(kind.why) + "\n\n- fix: `" + std::string(kind.fix) +
                     "`\n";
  if (!kind.undo.empty()) text += "- undo: `" + std::string(kind.undo) + "`\n";
  return text;
}

}  // namespace

std::string findings_page(const std::vector<host::CheckDescription>& checks) {
  std::string text = introduction;
  for (const auto& check : checks) {
    text += "\n## " + std::string(check.name) + "\n";
    for (const auto& kind : check.kinds) text += to_text(kind);
  }
  return text;
}

}  // namespace lanewise::cli
