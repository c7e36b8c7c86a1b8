// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// An XML file as plain values with line numbers, for the readers of machine files.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanewise::host {

struct XmlElement {
  std::string name;
  int line = 0;  // from 1
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string text;  // of the first text node
  std::vector<XmlElement> children;

  // None where the attribute is missing.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view attribute) const noexcept {
    for (const auto& [key, value] : attributes) {
      if (key == attribute) return value;
    }
    return std::nullopt;
  }
};

// The root element. Throws Error with `name` and line for anything that is not well-formed XML, and
// for elements nested deeper than any machine.
[[nodiscard]] XmlElement parse_xml(const std::string& name, std::string_view text);

}  // namespace lanewise::host
