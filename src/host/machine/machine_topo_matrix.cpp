// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine_topo_matrix.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "files/split_text.hpp"

namespace lanewise::host {

namespace {

// Each GPU is given a bus of its own in a domain that none has.
constexpr std::size_t most_gpus = 256;
constexpr int largest_number = 4095;
constexpr int most_nvlinks = 64;

using Words = std::vector<std::string_view>;

Words split_words(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  Words words;
  while (true) {
    const auto start = line.find_first_not_of(blanks);
    if (start == std::string_view::npos) return words;
    line.remove_prefix(start);
    const auto end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::optional<int> parse_whole(std::string_view text, int limit) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size() || number < 0 ||
      number > limit)
    return std::nullopt;
  return number;
}

std::optional<int> parse_label(std::string_view word) {
  constexpr std::string_view label = "GPU";
  if (!word.starts_with(label)) return std::nullopt;
  return parse_whole(word.substr(label.size()), largest_number);
}

// Drops a terminal's underline and colours: ESC, '[', numbers, a letter.
std::string without_escapes(std::string_view text) {
  std::string plain;
  bool is_escaped = false;
  for (const char sign : text) {
    if (sign == '\033') is_escaped = true;
    const bool is_last = sign == '\n' || (sign >= '@' && sign <= '~' && sign != '[');
    if (!is_escaped || sign == '\n') plain += sign;
    if (is_last) is_escaped = false;
  }
  return plain;
}

struct Cell {
  PathType path = PathType::unknown;
  int nvlinks = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

std::optional<Cell> parse_cell(std::string_view word) {
  struct Class {
    std::string_view word;
    PathType path;
  };
  // SOC is what SYS was called before 2018.
  constexpr std::array classes = {Class{"X", PathType::self},    Class{"PIX", PathType::pix},
                                  Class{"PXB", PathType::pxb},   Class{"PHB", PathType::phb},
                                  Class{"NODE", PathType::node}, Class{"SYS", PathType::sys},
                                  Class{"SOC", PathType::sys}};
  for (const auto& known : classes)
    if (word == known.word) return Cell{known.path, 0};
  if (!word.starts_with("NV")) return std::nullopt;
  const auto links = parse_whole(word.substr(2), most_nvlinks);
  if (!links || *links == 0) return std::nullopt;
  return Cell{PathType::unknown, *links};
}

// Labels of GPUs without the cells of a row.
bool is_header(const Words& words) {
  return !words.empty() && parse_label(words[0]) && (words.size() == 1 || !parse_cell(words[1]));
}

class MatrixReader {
 public:
  MatrixReader(const std::string& file, std::string_view text)
      : file_(file), text_(without_escapes(text)) {}

  Topology read() {
    for (const auto line : split_text(text_, '\n')) {
      ++line_;
      const auto words = split_words(line);
      if (numbers_.empty()) {
        if (is_header(words)) read_header(words);
      } else if (!words.empty() && rows_.size() < numbers_.size()) {
        read_row(words);
      }
    }
    if (numbers_.empty()) fail(0, "expected the table of `nvidia-smi topo -m`: GPU0 GPU1 ...");
    if (rows_.size() < numbers_.size()) fail(line_, "expected the row of " + label(rows_.size()));
    require_symmetry();
    return make_topology();
  }

 private:
  struct Row {
    std::vector<Cell> cells;
    std::optional<int> numa;
  };

  [[noreturn]] void fail(int line, const std::string& expectation) const {
    throw Error(file_, line, expectation);
  }

  std::string label(std::size_t index) const { return "GPU" + std::to_string(numbers_[index]); }

  void read_header(const Words& words) {
    std::size_t word = 0;
    for (; word < words.size() && parse_label(words[word]); ++word) {
      const int number = *parse_label(words[word]);
      if (std::ranges::find(numbers_, number) != numbers_.end())
        fail(line_, "expected each GPU once, found " + std::string(words[word]) + " again");
      if (numbers_.size() == most_gpus)
        fail(line_, "expected at most " + std::to_string(most_gpus) + " GPUs");
      numbers_.push_back(number);
    }
    // NICs, then "CPU Affinity" and "NUMA Affinity" in later drivers.
    std::size_t column = 1 + numbers_.size();
    for (; word < words.size() && words[word] != "CPU"; ++word) ++column;
    for (; word + 1 < words.size(); ++word) {
      if (words[word + 1] != "Affinity") continue;
      if (words[word] == "NUMA") numa_column_ = column;
      ++column;
    }
  }

  void read_row(const Words& words) {
    const std::size_t row = rows_.size();
    const std::size_t count = numbers_.size();
    if (words[0] != label(row))
      fail(line_,
           "expected the row of " + label(row) + ", found \"" + std::string(words[0]) + "\"");
    if (words.size() <= count)
      fail(line_, "expected a cell for each of " + std::to_string(count) + " GPUs, found " +
                      std::to_string(words.size() - 1));
    Row read;
    for (std::size_t column = 0; column < count; ++column)
      read.cells.push_back(read_cell(words[1 + column], row == column));
    // More than one node, as in "0-1", is as good as none.
    if (numa_column_ && *numa_column_ < words.size())
      read.numa = parse_whole(words[*numa_column_], largest_number);
    rows_.push_back(std::move(read));
  }

  Cell read_cell(std::string_view word, bool is_diagonal) const {
    const auto cell = parse_cell(word);
    if (cell && (cell->path == PathType::self) == is_diagonal) return *cell;
    fail(line_, std::string("expected ") +
                    (is_diagonal ? "X" : "PIX, PXB, PHB, NODE, SYS or NV with a number") +
                    ", found \"" + std::string(word) + "\"");
  }

  void require_symmetry() const {
    for (std::size_t a = 0; a < rows_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (rows_[a].cells[b] != rows_[b].cells[a])
          fail(0, "expected " + label(b) + " and " + label(a) + " to be as near both ways");
  }

  // Behind NVLink the class of the PCI path is not shown.
  PathType path_of(std::size_t a, std::size_t b) const {
    const Cell& cell = rows_[a].cells[b];
    if (cell.nvlinks == 0 || !rows_[a].numa || !rows_[b].numa) return cell.path;
    return rows_[a].numa == rows_[b].numa ? PathType::node : PathType::sys;
  }

  Topology make_topology() const {
    Topology topology;
    topology.source = file_;
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      Gpu gpu{.address = {.domain = no_domain, .bus = static_cast<std::uint8_t>(a)}};
      gpu.number = numbers_[a];
      gpu.numa = rows_[a].numa;
      for (std::size_t b = 0; b < rows_.size(); ++b) {
        gpu.nvlinks += rows_[a].cells[b].nvlinks;
        topology.stated_paths.push_back(path_of(a, b));
      }
      if (gpu.numa) topology.numa_nodes.push_back({.number = *gpu.numa});
      topology.gpus.push_back(std::move(gpu));
    }
    auto& nodes = topology.numa_nodes;
    std::ranges::sort(nodes, {}, &NumaNode::number);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    topology.notes.emplace_back(
        "nvidia-smi topo -m shows classes and NUMA nodes alone: models, addresses, link widths and "
        "the processor are unknown, and the fingerprint is not the machine's own");
    return topology;
  }

  const std::string& file_;
  std::string text_;
  int line_ = 0;
  std::vector<int> numbers_;
  std::optional<std::size_t> numa_column_;
  std::vector<Row> rows_;
};

}  // namespace

bool is_topo_matrix(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] == '<') return false;
  // The header comes first, at most a prompt before it.
  constexpr std::size_t most_lines = 16;
  const std::string plain = without_escapes(text.substr(0, std::size_t{1} << 14U));
  const auto lines = split_text(plain, '\n');
  for (std::size_t line = 0; line < std::min(lines.size(), most_lines); ++line)
    if (is_header(split_words(lines[line]))) return true;
  return false;
}

Topology read_topo_matrix(const std::string& file, std::string_view text) {
  return MatrixReader(file, text).read();
}

}  // namespace lanewise::host
