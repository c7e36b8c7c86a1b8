// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/tuner_csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "core/error.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::host {
namespace {

constexpr std::size_t fewest_fields = 8;
constexpr std::size_t most_fields = 10;
constexpr std::size_t most_rows = 10'000;  // rules_of compares each with each
constexpr long long most_channels = 64;
constexpr long long highest_number = 1'000'000;
constexpr long long highest_byte = 1LL << 62U;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view column_names =
    "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,"
    "regBuff";

constexpr std::array<std::string_view, 5> collective_names = {"broadcast", "reduce", "allgather",
                                                              "reducescatter", "allreduce"};
constexpr std::array<std::string_view, algorithm_count> algorithm_words = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() <= most_fields) {
    const auto comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return fields;
}

// One line of a file; its fields by name.
class Line {
 public:
  Line(const std::string& file, int number, std::string_view text)
      : file_(file), number_(number), fields_(split(text)) {
    if (fields_.size() < fewest_fields || fields_.size() > most_fields)
      throw Error(file_, number_, "expected 8 to 10 fields separated by commas");
  }

  [[nodiscard]] bool has(std::size_t field) const { return field < fields_.size(); }
  [[nodiscard]] std::string_view word(std::size_t field) const { return fields_[field]; }

  [[nodiscard]] long long whole(std::size_t field, std::string_view name, long long low,
                                long long high) const {
    const auto text = fields_[field];
    long long number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || number < low || number > high)
      fail(name, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return number;
  }

  // -1 is the format's mark for any value.
  [[nodiscard]] std::optional<int> any_or(std::size_t field, std::string_view name, long long low,
                                          long long high) const {
    if (!has(field) || fields_[field] == "-1") return std::nullopt;
    return static_cast<int>(whole(field, std::string(name) + " other than -1", low, high));
  }

  [[noreturn]] void fail(std::string_view name, const std::string& expected) const {
    throw Error(file_, number_, std::string(name) + ": expected " + expected);
  }

 private:
  const std::string& file_;
  int number_;
  std::vector<std::string_view> fields_;
};

Collective read_collective(const Line& line) {
  const auto found = std::find(collective_names.begin(), collective_names.end(), line.word(0));
  if (found == collective_names.end())
    line.fail("collective", "broadcast, reduce, allgather, reducescatter or allreduce");
  return static_cast<Collective>(found - collective_names.begin());
}

TunerRow read_row(const Line& line, int number) {
  TunerRow row{.collective = read_collective(line), .line = number};
  row.bytes.low = static_cast<std::size_t>(line.whole(1, "min", 0, highest_byte));
  row.bytes.high = static_cast<std::size_t>(line.whole(2, "max", 0, highest_byte));
  if (row.bytes.high < row.bytes.low) line.fail("max", "no less than min");
  const auto algorithm = parse_algorithm(line.word(3));
  const auto protocol = parse_protocol(line.word(4));
  if (!algorithm)
    line.fail("algorithm", "tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree or pat");
  if (!protocol) line.fail("protocol", "ll, ll128 or simple");
  row.choice = {*algorithm, *protocol, line.any_or(5, "channels", 1, most_channels).value_or(0)};
  row.nodes = line.any_or(6, "nodes", 1, highest_number);
  row.ranks = line.any_or(7, "ranks", 1, highest_number);
  row.pipe_ops = line.any_or(8, "pipe_ops", 1, highest_number);
  const auto registered = line.any_or(9, "registered", 0, 1);
  if (registered) row.is_registered = *registered == 1;
  return row;
}

bool is_header(std::string_view line) {
  return line.starts_with("collective,") || line.starts_with("collective_type,");
}

std::string format_any(std::optional<int> number) { return std::to_string(number.value_or(-1)); }

}  // namespace

std::vector<TunerRow> parse_tuner_csv(std::string_view text, const std::string& file) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<TunerRow> rows;
  bool may_be_header = true;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    const bool is_skipped = may_be_header && is_header(line);
    may_be_header = false;
    if (is_skipped) continue;
    if (rows.size() == most_rows)
      throw Error(file, number, "expected at most " + std::to_string(most_rows) + " rows");
    rows.push_back(read_row(Line(file, number, line), number));
  }
  return rows;
}

std::vector<TunerRow> read_tuner_csv(const std::filesystem::path& path) {
  return parse_tuner_csv(read_text_file(path), path.string());
}

std::string format_tuner_csv(std::span<const TunerRow> rows) {
  std::string text = "# " + std::string(column_names) + '\n';
  for (const TunerRow& row : rows) {
    text += collective_names[static_cast<std::size_t>(row.collective)];
    text += ',' + std::to_string(row.bytes.low) + ',' + std::to_string(row.bytes.high) + ',';
    text += algorithm_words[static_cast<std::size_t>(row.choice.algorithm)];
    text += ',';
    text += name_of(row.choice.protocol);
    text += ',' + std::to_string(row.choice.channels > 0 ? row.choice.channels : -1) + ',' +
            format_any(row.nodes) + ',' + format_any(row.ranks) + ',' + format_any(row.pipe_ops) +
            ',' + (row.is_registered ? (*row.is_registered ? "1" : "0") : "-1") + '\n';
  }
  return text;
}

}  // namespace lanewise::host
