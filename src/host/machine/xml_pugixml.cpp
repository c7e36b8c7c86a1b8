// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <pugixml.hpp>

#include "core/error.hpp"
#include "xml_element.hpp"

namespace lanewise::host {

namespace {

// lstopo nests some 20 levels on the deepest machines known.
constexpr int deepest_nesting = 64;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

class Conversion {
 public:
  Conversion(const std::string& name, std::string_view text) : name_(name) {
    for (std::size_t index = 0; index < text.size(); ++index) {
      if (text[index] == '\n') line_ends_.push_back(static_cast<std::ptrdiff_t>(index));
    }
  }

  [[nodiscard]] int line_at(std::ptrdiff_t offset) const {
    const auto end = std::ranges::lower_bound(line_ends_, offset);
    return static_cast<int>(end - line_ends_.begin()) + 1;
  }

  [[nodiscard]] XmlElement convert(const pugi::xml_node& node, int depth) const {
    XmlElement element{.name = node.name(), .line = line_at(node.offset_debug())};
    if (depth > deepest_nesting)
      throw Error(name_, element.line,
                  "expected at most " + std::to_string(deepest_nesting) + " nested elements");
    for (const auto& attribute : node.attributes())
      element.attributes.emplace_back(attribute.name(), attribute.value());
    element.text = node.child_value();
    for (const auto& child : node.children()) {
      if (child.type() == pugi::node_element) element.children.push_back(convert(child, depth + 1));
    }
    return element;
  }

 private:
  const std::string& name_;
  std::vector<std::ptrdiff_t> line_ends_;
};

}  // namespace

XmlElement parse_xml(const std::string& name, std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const Conversion conversion(name, text);
  // The parser stops at a NUL byte and takes what it has for the whole.
  const auto nul = text.find('\0');
  if (nul != std::string_view::npos)
    throw Error(name, conversion.line_at(static_cast<std::ptrdiff_t>(nul)),
                "expected text, found a NUL byte");
  pugi::xml_document document;
  const auto result =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    throw Error(name, conversion.line_at(result.offset),
                std::string("expected well-formed XML: ") + result.description());
  }
  const auto root = document.document_element();
  if (!root) throw Error(name, 1, "expected an XML element");
  return conversion.convert(root, 1);
}

}  // namespace lanewise::host
