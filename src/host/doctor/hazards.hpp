// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Known faults of NCCL releases: hazards.json, which a user can extend by a file of the same form.
#include <string>
#include <string_view>
#include <vector>

#include "core/doctor/finding.hpp"
#include "core/nccl/nccl_release.hpp"

namespace lanewise::host {

struct Hazard {
  std::string name;
  NcclRelease first;  // both ends belong to the range
  NcclRelease last;
  int lowest_capability = 0;  // 120 for sm_120; both ends belong to it
  int highest_capability = 9999;
  Severity severity = Severity::note;
  std::string symptom;
  std::string fix;
  std::string source;  // a public page

  [[nodiscard]] bool applies_to(const NcclRelease& release, int compute_capability) const noexcept;
};

// Throws Error with `file`, line and what was expected.
[[nodiscard]] std::vector<Hazard> parse_hazards(std::string_view text, const std::string& file);

// Those that come with the tool.
[[nodiscard]] std::vector<Hazard> bundled_hazards();

}  // namespace lanewise::host
