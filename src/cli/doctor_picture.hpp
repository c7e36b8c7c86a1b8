// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The machine's tree with the doctor's findings on it: for a terminal and as SVG.
#include <optional>
#include <string>
#include <vector>

#include "core/doctor/finding.hpp"
#include "core/machine/topology.hpp"

namespace lanewise::cli {

// A root, a switch or a GPU; `findings` are those that name its address.
struct PictureNode {
  std::string label;
  std::vector<const Finding*> findings;
  std::vector<PictureNode> below;
};

// The report must outlive it. Empty for a machine without GPUs.
[[nodiscard]] std::vector<PictureNode> make_picture(const Topology& topology, const Report& report);

[[nodiscard]] std::string picture_to_text(const std::vector<PictureNode>& roots);
[[nodiscard]] std::string picture_to_svg(const std::vector<PictureNode>& roots);

}  // namespace lanewise::cli
