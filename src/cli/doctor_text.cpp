// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <map>

#include "doctor_picture.hpp"
#include "doctor_report.hpp"
#include "words.hpp"

namespace lanewise::cli {
namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t label_width = 9;
constexpr std::array severities = {Severity::broken, Severity::slow, Severity::unknown,
                                   Severity::note};

// Between words; what is longer than a line stays whole, so that it can be copied.
std::string wrap(std::string_view text, const std::string& label) {
  std::string lines = "  " + pad(label, label_width);
  std::size_t column = lines.size();
  const auto indent = column;
  bool is_first = true;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (!is_first && column + 1 + end > line_width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
    is_first = false;
  }
  return lines + "\n";
}

// A command is one line, whatever its length.
std::string whole_line(const std::string& text, const std::string& label) {
  return "  " + pad(label, label_width) + text + "\n";
}

std::string to_text(const Finding& finding) {
  std::string text = "\n" + pad(std::string(name_of(finding.severity)), label_width + 2) +
                     finding.title + "  [" + finding.name + "]\n";
  for (const auto& seen : finding.seen) text += wrap(seen.path + ": " + seen.value, "seen");
  text += wrap(finding.why, "why");
  text += whole_line(finding.fix, "fix");
  if (!finding.undo.empty()) text += whole_line(finding.undo, "undo");
  return text;
}

std::string head(const host::Examination& examination) {
  std::map<std::string, int> models;
  for (const auto& gpu : examination.topology.gpus)
    ++models[gpu.model.empty() ? "NVIDIA GPU of unknown model" : gpu.model];
  std::string text = "machine    " + examination.topology.source + "\n";
  for (const auto& [model, count] : models)
    text += "GPUs       " + std::to_string(count) + " x " + model + "\n";
  if (models.empty()) text += "GPUs       none\n";
  text += "NCCL       " +
          (examination.nccl.empty() ? "not found; --pid of a rank shows the one in use"
                                    : examination.nccl) +
          "\n";
  return text;
}

std::string tail(const Report& report) {
  if (report.findings.empty()) return "\nNothing found that makes all-reduces slow or break.\n";
  std::string text;
  for (const auto severity : severities) {
    const auto count = report.count(severity);
    if (count == 0) continue;
    text += (text.empty() ? "\n" : ", ") + std::to_string(count) + " " +
            std::string(name_of(severity)) + (severity == Severity::note && count > 1 ? "s" : "");
  }
  return text + ". Nothing was changed: the commands are for you to run.\n";
}

}  // namespace

std::string doctor_to_text(const host::Examination& examination) {
  std::string text = head(examination);
  for (const auto& finding : examination.report.findings) text += to_text(finding);
  const auto has_place = [](const Finding& finding) { return !finding.devices.empty(); };
  if (std::ranges::any_of(examination.report.findings, has_place))
    text += "\n" + picture_to_text(make_picture(examination.topology, examination.report));
  return text + tail(examination.report);
}

}  // namespace lanewise::cli
