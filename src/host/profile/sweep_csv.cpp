// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/profile/sweep_csv.hpp"

#include <charconv>

#include "core/error.hpp"
#include "files/split_text.hpp"

namespace lanewise::host {
namespace {

constexpr std::string_view sweep_columns =
    "bytes,arm,algorithm,protocol,channels,median_us,low_us,high_us,ratio,ratio_low,ratio_high,"
    "samples,wrong";
enum SweepColumn { bytes, arm, median_us = 5, column_count = 13 };
constexpr double longest_swept_us = 1e8;

template <typename Number>
Number read_number(std::string_view text, Number most, std::string_view name,
                   const std::string& file, int line) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !(number > 0 && number <= most))
    throw Error(file, line, std::string(name) + ": expected a number above 0");
  return number;
}

}  // namespace

std::vector<SweptTime> parse_sweep_csv(std::string_view text, const std::string& file) {
  std::vector<SweptTime> times;
  int number = 0;
  for (auto line : split_text(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1) {
      if (line != sweep_columns)
        throw Error(file, 1, "expected the columns of lanewise-bench sweep --csv");
      continue;
    }
    if (line.empty()) continue;
    const auto words = split_text(line, ',');
    if (words.size() != column_count)
      throw Error(file, number, "expected 13 fields separated by commas");
    if (words[arm] == "stock" || words[median_us].empty()) continue;
    const auto choice = parse_choice(words[arm]);
    if (!choice) throw Error(file, number, "arm: expected ALGORITHM/PROTOCOL/CHANNELS");
    times.push_back({*choice,
                     read_number(words[bytes], std::size_t{1} << 40U, "bytes", file, number),
                     read_number(words[median_us], longest_swept_us, "median_us", file, number)});
  }
  return times;
}

}  // namespace lanewise::host
