// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/hazards.hpp"

#include <array>
#include <optional>

#include "bundled_data.hpp"
#include "files/bundled_text.hpp"
#include "host/files/json.hpp"

namespace lanewise::host {
namespace {

constexpr long long schema_version = 1;
constexpr long long highest_capability = 9999;
constexpr std::array severities = {Severity::broken, Severity::slow, Severity::note};

NcclRelease read_release(const JsonField& field) {
  const auto release = parse_nccl_release(field.text());
  if (!release) field.fail("an NCCL release like \"2.28.9\"");
  return *release;
}

Severity read_severity(const JsonField& field) {
  const auto word = field.text();
  for (const auto severity : severities) {
    if (name_of(severity) == word) return severity;
  }
  field.fail("broken, slow or note");
}

Hazard read_hazard(const JsonField& field) {
  field.expect_only({"name", "nccl", "compute_capability", "severity", "symptom", "fix", "source"});
  Hazard hazard{.name = field.at("name").text()};
  const auto nccl = field.at("nccl");
  nccl.expect_only({"from", "to"});
  hazard.first = read_release(nccl.at("from"));
  hazard.last = read_release(nccl.at("to"));
  if (hazard.last < hazard.first) nccl.fail("\"from\" not above \"to\"");
  if (const auto range = field.find("compute_capability")) {
    range->expect_only({"from", "to"});
    hazard.lowest_capability = static_cast<int>(range->at("from").whole(0, highest_capability));
    hazard.highest_capability =
        static_cast<int>(range->at("to").whole(hazard.lowest_capability, highest_capability));
  }
  hazard.severity = read_severity(field.at("severity"));
  hazard.symptom = field.at("symptom").text();
  hazard.fix = field.at("fix").text();
  hazard.source = field.at("source").text();
  return hazard;
}

}  // namespace

bool Hazard::applies_to(const NcclRelease& release, int compute_capability) const noexcept {
  return first <= release && release <= last && lowest_capability <= compute_capability &&
         compute_capability <= highest_capability;
}

std::vector<Hazard> parse_hazards(std::string_view text, const std::string& file) {
  const auto root = parse_json(text, file);
  const JsonField field(file, "hazards", root);
  field.expect_only({"schema_version", "hazards"});
  (void)field.at("schema_version").whole(schema_version, schema_version);
  std::vector<Hazard> hazards;
  for (const auto& item : field.at("hazards").items()) hazards.push_back(read_hazard(item));
  return hazards;
}

std::vector<Hazard> bundled_hazards() {
  const auto data = read_bundled_text("hazards.json", bundled_hazards_json);
  return parse_hazards(data.text, data.name);
}

}  // namespace lanewise::host
