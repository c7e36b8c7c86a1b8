// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/price_table_file.hpp"

#include <algorithm>

#include "host/files/json.hpp"
#include "host/files/text_file.hpp"
#include "core/error.hpp"

namespace lanewise::host {
namespace {

// Bounds that no real value comes near.
constexpr long long most_ranks = 1024;
constexpr long long most_bytes = 1LL << 40U;
constexpr long long most_channels = 64;
constexpr double most_us = 1e9;

std::size_t read_entry(const JsonField& price) {
  const std::string& name = price.name();
  const auto slash = name.find('/');
  const auto algorithm = parse_algorithm(name.substr(0, slash));
  const auto protocol =
      slash == std::string::npos ? std::nullopt : parse_protocol(name.substr(slash + 1));
  if (!algorithm || !protocol) price.fail("a name ALGORITHM/PROTOCOL, as \"Ring/LL\"");
  return static_cast<std::size_t>(*algorithm) * protocol_count +
         static_cast<std::size_t>(*protocol);
}

PriceRow read_row(const JsonField& field) {
  PriceRow row;
  row.bytes = static_cast<std::size_t>(field.at("bytes").whole(1, most_bytes));
  row.prices.fill(-1.0F);
  for (const auto& price : field.at("us").members())
    row.prices.at(read_entry(price)) = static_cast<float>(price.number(-most_us, most_us));
  return row;
}

std::vector<PriceRow> read_rows(const JsonField& list) {
  std::vector<PriceRow> rows;
  for (const auto& item : list.items()) {
    rows.push_back(read_row(item));
    if (rows.size() > 1 && rows.back().bytes <= rows[rows.size() - 2].bytes)
      item.fail("sizes in ascending order");
  }
  if (rows.empty()) list.fail("at least one size");
  return rows;
}

NcclRelease read_release(const JsonField& field) {
  const auto release = parse_nccl_release(field.text());
  if (!release) field.fail("an NCCL version, as \"2.30.7\"");
  return *release;
}

}  // namespace

PriceTableFile read_price_table(const std::filesystem::path& path) {
  const std::string name = path.string();
  const JsonValue document = parse_json(read_text_file(path), name);
  const JsonField root(name, "price table", document);
  PriceTableFile file;
  file.machine = root.at("topology").text();
  file.nccl = read_release(root.at("nccl"));
  file.ranks = static_cast<int>(root.at("nRanks").whole(2, most_ranks));
  if (const auto ring = root.find("ring"))
    file.search_channels = static_cast<int>(ring->at("channels").whole(1, most_channels));
  file.rows = read_rows(root.at("table"));
  return file;
}

PriceTable prices_at(const PriceTableFile& file, std::size_t bytes) {
  const auto after =
      std::lower_bound(file.rows.begin(), file.rows.end(), bytes,
                       [](const PriceRow& row, std::size_t size) { return row.bytes < size; });
  if (after == file.rows.end() || (after == file.rows.begin() && after->bytes != bytes))
    throw Error("no price of " + std::to_string(bytes) + " bytes: expected a size from " +
                std::to_string(file.rows.front().bytes) + " to " +
                std::to_string(file.rows.back().bytes));
  if (after->bytes == bytes) return after->prices;
  const PriceRow& before = *std::prev(after);
  const auto share = static_cast<float>(static_cast<double>(bytes - before.bytes) /
                                        static_cast<double>(after->bytes - before.bytes));
  PriceTable prices{};
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const bool is_priced = before.prices[i] >= 0 && after->prices[i] >= 0;
    prices[i] = is_priced ? before.prices[i] + share * (after->prices[i] - before.prices[i]) : -1;
  }
  return prices;
}

}  // namespace lanewise::host
