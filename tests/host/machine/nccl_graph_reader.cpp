// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "nccl_graph_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace lanewise::test {
namespace {

constexpr std::size_t max_text = 254;
constexpr std::size_t max_attributes = 16;
constexpr std::size_t max_children = 128;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  bool is_close = false;
  bool is_single = false;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // An element with an empty name at the end of the text.
  Element next() {
    skip(" \n\r");
    Element element;
    if (text_.empty()) return element;
    if (take() != '<') fail("expected <");
    element.is_close = !text_.empty() && text_.front() == '/';
    if (element.is_close) take();
    element.name = word();
    while (!text_.empty() && text_.front() == ' ') {
      take();
      add_attribute(element);
    }
    element.is_single = !text_.empty() && text_.front() == '/';
    if (element.is_single) take();
    if (take() != '>') fail("expected > after " + element.name);
    return element;
  }

 private:
  char take() {
    if (text_.empty()) fail("unexpected end");
    const char sign = text_.front();
    text_.remove_prefix(1);
    return sign;
  }
  void skip(std::string_view signs) {
    text_.remove_prefix(std::min(text_.find_first_not_of(signs), text_.size()));
  }
  std::string word() {
    const auto end = text_.find_first_of(" >/=\n\r\t\"");
    if (end == 0 || end == std::string_view::npos || end > max_text) fail("expected a short word");
    const std::string found(text_.substr(0, end));
    text_.remove_prefix(end);
    return found;
  }
  void add_attribute(Element& element) {
    const auto key = word();
    if (take() != '=' || take() != '"') fail("expected =\" after " + key);
    const auto end = text_.find('"');
    if (end == std::string_view::npos || end > max_text) fail("expected a short value of " + key);
    element.attributes[key] = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    if (element.attributes.size() > max_attributes) fail("too many attributes");
  }

  std::string_view text_;
};

const std::string& attribute(const Element& element, const std::string& name) {
  const auto found = element.attributes.find(name);
  if (found == element.attributes.end()) fail(element.name + " has no " + name);
  return found->second;
}

int number(const Element& element, const std::string& name, int base) {
  const auto& text = attribute(element, name);
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, base);
  if (text.empty() || *end != '\0') fail(name + " is no number: " + text);
  return static_cast<int>(value);
}

std::string link_type(const Element& element, const std::string& name) {
  constexpr std::array<std::string_view, 8> known = {"LOC", "NVL", "NVB", "PIX",
                                                     "PXB", "PXN", "PHB", "SYS"};
  const auto& text = attribute(element, name);
  if (std::find(known.begin(), known.end(), text) == known.end()) fail("no link type: " + text);
  return text;
}

std::vector<int> read_channel(Reader& reader) {
  std::vector<int> devices;
  for (auto element = reader.next(); !element.is_close; element = reader.next()) {
    if (element.name != "gpu" || !element.is_single) fail("expected <gpu/>");
    devices.push_back(number(element, "dev", 16));
    if (devices.size() > max_children) fail("too many GPUs");
  }
  return devices;
}

ReadGraph read_graph(const Element& head, Reader& reader) {
  ReadGraph graph;
  graph.id = number(head, "id", 0);
  graph.pattern = number(head, "pattern", 0);
  graph.channels = number(head, "nchannels", 0);
  graph.same_channels = number(head, "samechannels", 0);
  static_cast<void>(number(head, "crossnic", 0));
  graph.speed_intra = std::strtod(attribute(head, "speedintra").c_str(), nullptr);
  graph.speed_inter = std::strtod(attribute(head, "speedinter").c_str(), nullptr);
  static_cast<void>(attribute(head, "latencyinter"));
  graph.type_intra = link_type(head, "typeintra");
  graph.type_inter = link_type(head, "typeinter");
  if (head.is_single) return graph;
  for (auto element = reader.next(); !element.is_close; element = reader.next()) {
    if (element.name != "channel") fail("expected <channel>");
    graph.orders.push_back(read_channel(reader));
  }
  if (graph.orders.size() != static_cast<std::size_t>(graph.channels))
    fail("nchannels is not the number of channels");
  return graph;
}

}  // namespace

std::vector<ReadGraph> read_nccl_graphs(std::string_view text) {
  Reader reader(text);
  const auto head = reader.next();
  if (head.name != "graphs" || number(head, "version", 0) != 1) fail("expected graphs version 1");
  std::vector<ReadGraph> graphs;
  for (auto element = reader.next(); !element.is_close; element = reader.next()) {
    if (element.name != "graph") fail("expected <graph>");
    graphs.push_back(read_graph(element, reader));
  }
  if (!reader.next().name.empty()) fail("something follows </graphs>");
  return graphs;
}

}  // namespace lanewise::test
