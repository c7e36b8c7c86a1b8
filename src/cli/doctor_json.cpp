// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor_report.hpp"
#include "host/files/json.hpp"

namespace lanewise::cli {
namespace {

// Files and variables may hold anything; JSON holds UTF-8.
std::string quote(std::string text) {
  for (auto& letter : text) {
    if (static_cast<unsigned char>(letter) >= 0x80) letter = '?';
  }
  return host::quote_json(text);
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + item;
  return "[" + text + "]";
}

std::string to_json(const Finding& finding) {
  std::vector<std::string> seen;
  for (const auto& observation : finding.seen)
    seen.push_back("{\"path\":" + quote(observation.path) +
                   ",\"value\":" + quote(observation.value) + "}");
  std::vector<std::string> devices;
  for (const auto& device : finding.devices) devices.push_back(quote(device));
  return "{\"name\":" + quote(finding.name) +
         ",\"severity\":" + quote(std::string(name_of(finding.severity))) +
         ",\"title\":" + quote(finding.title) + ",\"seen\":" + list(seen) +
         ",\"why\":" + quote(finding.why) + ",\"fix\":" + quote(finding.fix) +
         ",\"undo\":" + quote(finding.undo) + ",\"devices\":" + list(devices) + "}";
}

}  // namespace

std::string doctor_to_json(const host::Examination& examination, int status) {
  std::vector<std::string> gpus;
  for (const auto& gpu : examination.topology.gpus)
    gpus.push_back("{\"address\":" + quote(to_string(gpu.address)) +
                   ",\"model\":" + quote(gpu.model) + "}");
  std::vector<std::string> findings;
  for (const auto& finding : examination.report.findings) findings.push_back(to_json(finding));
  return "{\"schema_version\":1,\"status\":" + std::to_string(status) +
         ",\"machine\":" + quote(examination.topology.source) + ",\"gpus\":" + list(gpus) +
         ",\"nccl\":" + (examination.nccl.empty() ? "null" : quote(examination.nccl)) +
         ",\"findings\":" + list(findings) + "}\n";
}

}  // namespace lanewise::cli
