// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "conf_file.hpp"

#include <charconv>
#include <fstream>
#include <sstream>

#include "lanewise/error.hpp"

namespace lanewise::bench {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(trimmed(field));
  return fields;
}

template <class Number>
Number number(const std::string& text, const std::string& path, int line) {
  Number value{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
    throw Error(path, line, "expected a number, found \"" + text + "\"");
  }
  return value;
}

std::optional<ConfRule> parse_rule(const std::string& text, const std::string& path, int line) {
  static constexpr std::size_t fewest_fields = 8;
  const auto fields = split(text);
  if (fields.size() < fewest_fields) throw Error(path, line, "expected 8 fields or more");
  const auto algorithm = parse_algorithm(fields[3]);
  const auto protocol = parse_protocol(fields[4]);
  if (!algorithm || !protocol) throw Error(path, line, "unknown algorithm or protocol");
  const int channels = number<int>(fields[5], path, line);
  const int nodes = number<int>(fields[6], path, line);
  if (fields[0] != "allreduce" || (nodes != -1 && nodes != 1)) return std::nullopt;
  return ConfRule{number<std::size_t>(fields[1], path, line),
                  number<std::size_t>(fields[2], path, line),
                  {*algorithm, *protocol, channels < 0 ? 0 : channels},
                  number<int>(fields[7], path, line)};
}

}  // namespace

std::optional<Choice> ConfFile::find(std::size_t bytes, int ranks) const {
  for (const ConfRule& rule : rules) {
    const bool fits_ranks = rule.ranks == -1 || rule.ranks == ranks;
    if (fits_ranks && rule.low <= bytes && bytes <= rule.high) return rule.choice;
  }
  return std::nullopt;
}

ConfFile read_conf_file(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw Error(path, 0, "cannot be read");
  ConfFile file;
  std::string text;
  for (int line = 1; std::getline(stream, text); ++line) {
    const std::string rule = trimmed(text);
    if (rule.empty() || rule.front() == '#') continue;
    if (auto parsed = parse_rule(rule, path, line)) file.rules.push_back(*parsed);
  }
  return file;
}

}  // namespace lanewise::bench
