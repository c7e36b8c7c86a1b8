// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "probe.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

constexpr std::array<std::string_view, 2> method_names = {"peer", "host"};
constexpr std::array<std::string_view, 3> kind_names = {"latency", "store", "bandwidth"};
constexpr std::string_view error_word = "error ";

template <typename Enum, std::size_t count>
Enum parse_name(const std::array<std::string_view, count>& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw Error("unknown word in a probe: " + std::string(text));
  return static_cast<Enum>(found - names.begin());
}

int parse_gpu(std::string_view text) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size() || number < 0) {
    throw Error("not the number of a GPU: '" + std::string(text) + "'");
  }
  return number;
}

}  // namespace

std::string_view name_of(Method method) noexcept {
  return method_names.at(static_cast<std::size_t>(method));
}

std::string_view name_of(ProbeKind kind) noexcept {
  return kind_names.at(static_cast<std::size_t>(kind));
}

std::string to_string(const Flow& flow) {
  return std::to_string(flow.from) + ">" + std::to_string(flow.to);
}

Flow parse_flow(std::string_view text) {
  const std::size_t arrow = text.find('>');
  if (arrow == std::string_view::npos) {
    throw Error("a flow is written FROM>TO, not '" + std::string(text) + "'");
  }
  return {parse_gpu(text.substr(0, arrow)), parse_gpu(text.substr(arrow + 1))};
}

std::string to_string(const Probe& probe) {
  std::string text(name_of(probe.kind));
  text += " " + std::string(name_of(probe.method));
  for (const Flow& flow : probe.flows) text += " " + to_string(flow);
  return text;
}

Probe parse_probe(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string kind;
  std::string method;
  words >> kind >> method;
  Probe probe{
      parse_name<ProbeKind>(kind_names, kind), parse_name<Method>(method_names, method), {}};
  for (std::string flow; words >> flow;) probe.flows.push_back(parse_flow(flow));
  if (probe.flows.empty()) throw Error("a probe without flows: " + std::string(text));
  return probe;
}

std::string to_string(const Reading& reading) {
  if (reading.error) {
    std::string line(error_word);
    line += *reading.error;
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
  }
  std::ostringstream line;
  line.precision(9);
  line << "ok";
  for (const double value : reading.values) line << ' ' << value;
  return line.str();
}

Reading parse_reading(std::string_view text) {
  if (text.starts_with(error_word)) return {{}, std::string(text.substr(error_word.size()))};
  std::istringstream words{std::string(text)};
  std::string first;
  words >> first;
  if (first != "ok") throw Error("not an answer to a probe: '" + std::string(text) + "'");
  Reading reading;
  for (double value = 0; words >> value;) reading.values.push_back(value);
  if (!words.eof()) throw Error("not a number in an answer: '" + std::string(text) + "'");
  return reading;
}

}  // namespace lanewise::bench
