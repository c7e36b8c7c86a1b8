// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "sizes.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <set>

#include "core/byte_size.hpp"
#include "core/error.hpp"
#include "host/files/json.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::bench {
namespace {

constexpr std::size_t kibi = 1024;
constexpr std::size_t largest = kibi * kibi * kibi;
// One LL line: the least step that changes what a thread moves.
constexpr std::size_t neighbour_distance = 16;
// DeepSeek and Kimi: the machines this is for serve them.
constexpr long default_hidden = 7168;

void add_range(const SizeOptions& options, std::set<std::size_t>& sizes) {
  const std::size_t colon = options.range.find(':');
  if (colon == std::string::npos) throw Error("--range is LOW:HIGH, as in 1K:4M");
  const std::size_t low = parse_size(std::string_view(options.range).substr(0, colon));
  const std::size_t high = parse_size(std::string_view(options.range).substr(colon + 1));
  if (low > high) throw Error("--range: " + options.range + " is upside down");
  std::size_t power = 1;
  while (power < low) power *= 2;
  for (; power <= high; power *= 2) {
    sizes.insert(power);
    if (!options.wants_neighbours) continue;
    if (power >= low + neighbour_distance) sizes.insert(power - neighbour_distance);
    if (power + neighbour_distance <= high) sizes.insert(power + neighbour_distance);
  }
}

// What `lanewise stats --json` wrote of a server's calls.
void add_seen(const std::string& path, std::size_t element, std::set<std::size_t>& sizes) {
  const auto text = host::read_text_file(path);
  const host::JsonValue root = host::parse_json(text, path);
  std::set<std::size_t> seen;
  for (const host::JsonField& size :
       host::JsonField(path, "statistics", root).at("sizes").items()) {
    const auto bytes =
        static_cast<std::size_t>(size.at("bytes").whole(0, std::numeric_limits<long long>::max()));
    // Empty calls, ones too large to be small, and those of another type's elements are no sizes.
    if (bytes > 0 && bytes <= largest && bytes % element == 0) seen.insert(bytes);
  }
  if (seen.empty()) throw Error(path + ": expected at least one size that a process has called");
  sizes.merge(seen);
}

void add_shape(const SizeOptions& options, long hidden, std::set<std::size_t>& sizes) {
  const std::size_t row = static_cast<std::size_t>(hidden) * size_of(parse_data_type(options.type));
  for (const int tokens : options.tokens) {
    if (tokens <= 0) throw Error("--tokens are numbers above 0");
    sizes.insert(row * static_cast<std::size_t>(tokens));
  }
}

}  // namespace

void add_size_options(CLI::App& command, SizeOptions& options) {
  command.add_option("--bytes", options.bytes, "Payloads, as in 14336,56K")->delimiter(',');
  command.add_option("--hidden", options.hidden, "A model's hidden size: rows of the payload")
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--tokens", options.tokens, "Rows in a payload, with --hidden")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--range", options.range, "Powers of two, as in 1K:4M");
  command.add_flag("--neighbours", options.wants_neighbours,
                   "With --range: also 16 bytes below and above each power");
  command.add_option("--from-stats", options.stats,
                     "The sizes in a file of `lanewise stats --json`");
  command.add_option("--dtype", options.type, "bf16, fp16, fp32 or fp8")->capture_default_str();
}

std::vector<std::size_t> choose_sizes(const SizeOptions& options) {
  std::set<std::size_t> sizes;
  for (const std::string& text : options.bytes) sizes.insert(parse_size(text));
  if (!options.range.empty()) add_range(options, sizes);
  if (options.hidden > 0) add_shape(options, options.hidden, sizes);
  const std::size_t element = size_of(parse_data_type(options.type));
  if (!options.stats.empty()) add_seen(options.stats, element, sizes);
  if (sizes.empty()) add_shape(options, default_hidden, sizes);
  for (const std::size_t bytes : sizes) {
    if (bytes == 0 || bytes > largest) throw Error("a payload has 1 byte to 1 GiB");
    if (bytes % element != 0) {
      throw Error(std::to_string(bytes) + " bytes are no whole number of " + options.type);
    }
  }
  return {sizes.begin(), sizes.end()};
}

std::size_t parse_size(std::string_view text) {
  const auto bytes = parse_byte_size(text);
  if (!bytes || *bytes > largest)
    throw Error("\"" + std::string(text) + "\" is no payload: 14336, 14K, 4M, at most 1 GiB");
  return *bytes;
}

std::string show_size(std::size_t bytes) {
  if (bytes % (kibi * kibi) == 0) return std::to_string(bytes / kibi / kibi) + " MiB";
  if (bytes % kibi == 0) return std::to_string(bytes / kibi) + " KiB";
  return std::to_string(bytes);
}

}  // namespace lanewise::bench
