// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/cost_table_file.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "host/files/json.hpp"
#include "host/files/text_file.hpp"

namespace lanewise::host {
namespace {

// Bounds that no real value comes near.
constexpr long long most_channels = 64;
constexpr double most_us = 1e9;

std::size_t read_entry(const JsonField& cost) {
  const std::string& name = cost.name();
  const auto slash = name.find('/');
  const auto algorithm = parse_algorithm(name.substr(0, slash));
  const auto protocol =
      slash == std::string::npos ? std::nullopt : parse_protocol(name.substr(slash + 1));
  if (!algorithm || !protocol) cost.fail("a name ALGORITHM/PROTOCOL, as \"Ring/LL\"");
  return static_cast<std::size_t>(*algorithm) * protocol_count +
         static_cast<std::size_t>(*protocol);
}

CostRow read_row(const JsonField& field) {
  CostRow row;
  row.bytes = static_cast<std::size_t>(field.at("bytes").whole(1, most_bytes));
  row.costs.fill(-1.0F);
  for (const auto& cost : field.at("us").members())
    row.costs.at(read_entry(cost)) = static_cast<float>(cost.number(-most_us, most_us));
  return row;
}

std::vector<CostRow> read_rows(const JsonField& list) {
  std::vector<CostRow> rows;
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

CostTableFile read_cost_table(const std::filesystem::path& path) {
  const std::string name = path.string();
  const JsonValue document = parse_json(view_text_file(path), name);
  const JsonField root(name, "cost table", document);
  CostTableFile file;
  file.machine = root.at("topology").text();
  file.nccl = read_release(root.at("nccl"));
  file.ranks = static_cast<int>(root.at("nRanks").whole(2, most_ranks));
  if (const auto ring = root.find("ring"))
    file.search_channels = static_cast<int>(ring->at("channels").whole(1, most_channels));
  file.rows = read_rows(root.at("table"));
  return file;
}

CostArray costs_at(const CostTableFile& file, std::size_t bytes) {
  const auto after =
      std::lower_bound(file.rows.begin(), file.rows.end(), bytes,
                       [](const CostRow& row, std::size_t size) { return row.bytes < size; });
  if (after == file.rows.end() || (after == file.rows.begin() && after->bytes != bytes))
    throw Error("no cost of " + std::to_string(bytes) + " bytes: expected a size from " +
                std::to_string(file.rows.front().bytes) + " to " +
                std::to_string(file.rows.back().bytes));
  if (after->bytes == bytes) return after->costs;
  const CostRow& before = *std::prev(after);
  const auto share = static_cast<float>(static_cast<double>(bytes - before.bytes) /
                                        static_cast<double>(after->bytes - before.bytes));
  CostArray costs{};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const bool is_priced = before.costs[i] >= 0 && after->costs[i] >= 0;
    costs[i] = is_priced ? before.costs[i] + share * (after->costs[i] - before.costs[i]) : -1;
  }
  return costs;
}

}  // namespace lanewise::host
