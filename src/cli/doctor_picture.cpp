// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor_picture.hpp"

#include <algorithm>
#include <array>

namespace lanewise::cli {
namespace {

constexpr int row_height = 34;
constexpr int box_height = 26;
constexpr int box_width = 300;
constexpr int column_width = 340;
constexpr int margin = 20;
constexpr int mark_width = 420;

struct Colours {
  std::string_view fill;
  std::string_view line;
};
// By severity: broken, slow, unknown, note; the last is of a node without findings.
constexpr std::array<Colours, 5> colours = {
    Colours{"#fde0dd", "#b2182b"}, Colours{"#fee8c8", "#b35806"}, Colours{"#eeeeee", "#636363"},
    Colours{"#deebf7", "#3182bd"}, Colours{"#ffffff", "#969696"}};

std::string describe(const PciLink& link) {
  if (!link.is_known()) return "link unknown";
  return "Gen" + std::to_string(link.generation) + " x" + std::to_string(link.width);
}

PictureNode make_node(std::string label, const std::string& address, const Report& report) {
  PictureNode node{.label = std::move(label)};
  for (const auto& finding : report.findings) {
    if (std::ranges::find(finding.devices, address) != finding.devices.end())
      node.findings.push_back(&finding);
  }
  return node;
}

struct Painter {
  const Topology& topology;
  const Report& report;

  [[nodiscard]] std::vector<PictureNode> below(std::optional<std::size_t> root,
                                               std::optional<std::size_t> bridge) const {
    std::vector<PictureNode> nodes;
    for (std::size_t index = 0; index < topology.bridges.size(); ++index) {
      const Bridge& child = topology.bridges[index];
      if (bridge ? child.parent != bridge : child.parent || child.root != root) continue;
      const auto address = to_string(child.address);
      nodes.push_back(
          make_node("switch " + address + ", up " + describe(child.link), address, report));
      nodes.back().below = below(root, index);
    }
    for (std::size_t index = 0; index < topology.gpus.size(); ++index) {
      const Gpu& gpu = topology.gpus[index];
      if (bridge ? gpu.bridge != bridge : gpu.bridge || gpu.root != root) continue;
      const auto address = to_string(gpu.address);
      nodes.push_back(
          make_node("GPU" + std::to_string(index) + " " + address + ", " + describe(gpu.link),
                    address, report));
    }
    return nodes;
  }
};

std::string marks_of(const PictureNode& node) {
  std::string text;
  for (const auto* finding : node.findings)
    text +=
        (text.empty() ? "" : ", ") + std::string(name_of(finding->severity)) + " " + finding->name;
  return text;
}

void draw(const std::vector<PictureNode>& nodes, const std::string& indent, std::string& text) {
  for (const auto& node : nodes) {
    const bool is_last = &node == &nodes.back();
    text += indent + (is_last ? "`- " : "+- ") + node.label;
    if (!node.findings.empty()) text += "   <- " + marks_of(node);
    text += "\n";
    draw(node.below, indent + (is_last ? "   " : "|  "), text);
  }
}

const Colours& colours_of(const PictureNode& node) {
  std::size_t worst = colours.size() - 1;
  for (const auto* finding : node.findings)
    worst = std::min(worst, static_cast<std::size_t>(finding->severity));
  return colours[worst];
}

std::string text_at(int x, int y, const std::string& words, std::string_view colour) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" fill=\"" +
         std::string(colour) + "\">" + words + "</text>\n";
}

// One node a row, a column a depth; what is below hangs on a line from its left edge.
struct Svg {
  std::string shapes;
  int rows = 0;
  int depth = 0;

  void add(const PictureNode& node, int column, int above_row) {
    const int row = rows++;
    depth = std::max(depth, column);
    const int x = margin + column * column_width;
    const int y = margin + row * row_height;
    const int middle = y + box_height / 2;
    if (above_row >= 0) {
      const int from = x - column_width + margin;
      shapes += "<path d=\"M" + std::to_string(from) + " " +
                std::to_string(margin + above_row * row_height + box_height) + " V" +
                std::to_string(middle) + " H" + std::to_string(x) +
                "\" fill=\"none\" stroke=\"#969696\"/>\n";
    }
    const auto& paint = colours_of(node);
    shapes += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
              std::to_string(box_width) + "\" height=\"" + std::to_string(box_height) +
              "\" rx=\"4\" fill=\"" + std::string(paint.fill) + "\" stroke=\"" +
              std::string(paint.line) + "\"/>\n";
    shapes += text_at(x + 8, middle + 4, node.label, "#000000");
    if (!node.findings.empty())
      shapes += text_at(x + box_width + 8, middle + 4, marks_of(node), paint.line);
    for (const auto& child : node.below) add(child, column + 1, row);
  }
};

}  // namespace

std::vector<PictureNode> make_picture(const Topology& topology, const Report& report) {
  const Painter painter{topology, report};
  std::vector<PictureNode> roots;
  for (std::size_t index = 0; index <= topology.roots.size(); ++index) {
    const bool is_known = index < topology.roots.size();
    PictureNode node{.label = "root unknown"};
    if (is_known) {
      const Root& root = topology.roots[index];
      const auto first = to_string(PciAddress{.domain = root.domain, .bus = root.bus});
      node.label = "root " + first.substr(0, first.rfind(':')) + ", NUMA " +
                   (root.numa ? std::to_string(*root.numa) : "unknown");
    }
    node.below = painter.below(is_known ? std::optional(index) : std::nullopt, std::nullopt);
    if (!node.below.empty()) roots.push_back(std::move(node));
  }
  return roots;
}

std::string picture_to_text(const std::vector<PictureNode>& roots) {
  std::string text;
  for (const auto& root : roots) {
    text += root.label + "\n";
    draw(root.below, "", text);
  }
  return text;
}

std::string picture_to_svg(const std::vector<PictureNode>& roots) {
  Svg svg;
  for (const auto& root : roots) svg.add(root, 0, -1);
  const int width = 2 * margin + svg.depth * column_width + box_width + mark_width;
  const int height = 2 * margin + std::max(svg.rows, 1) * row_height;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
         "\" height=\"" + std::to_string(height) +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         svg.shapes + "</svg>\n";
}

}  // namespace lanewise::cli
