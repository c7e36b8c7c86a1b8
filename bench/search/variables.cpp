// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "variables.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace lanewise {
namespace {

// How many letters of a variable's name stand before a '='; 0: it is no assignment.
std::size_t length_of_name(const std::string& part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string::npos) return 0;
  const bool is_name = std::all_of(
      part.begin(), part.begin() + static_cast<std::ptrdiff_t>(equals), [](char letter) {
        return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
               (letter >= '0' && letter <= '9') || letter == '_';
      });
  return is_name ? equals : 0;
}

}  // namespace

Environment parse_variables(const std::string& text) {
  Environment variables;
  std::string* value = nullptr;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, end - start);
    start = end + 1;
    if (const std::size_t name = length_of_name(part); name > 0) {
      value = &variables[part.substr(0, name)];
      *value = part.substr(name + 1);
    } else if (value != nullptr && !part.empty()) {
      *value += "," + part;
    } else {
      throw Error("\"" + part + "\" is no NAME=VALUE, in " + text);
    }
  }
  return variables;
}

Environment with_changes(Environment own, const Environment& changes) {
  for (const auto& [name, value] : changes) {
    if (value.empty()) {
      own.erase(name);
    } else {
      own.insert_or_assign(name, value);
    }
  }
  return own;
}

}  // namespace lanewise
