// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "stock_tables.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/nccl/choice.hpp"
#include "support/test_files.hpp"

namespace lanewise::testing {

std::filesystem::path stock_table_path(const std::string& machine) {
  return test_file("data/stock_tables/" + machine + ".json");
}

std::vector<StockCosts> read_stock_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<StockCosts> rows;
  const auto document = nlohmann::json::parse(file);
  for (const auto& row : document.at("table")) {
    StockCosts costs{row.at("bytes").get<std::size_t>()};
    costs.costs.fill(-1.0F);
    for (const auto& [name, microseconds] : row.at("us").items()) {
      const auto slash = name.find('/');
      const auto algorithm = parse_algorithm(name.substr(0, slash)).value();
      const auto protocol = parse_protocol(name.substr(slash + 1)).value();
      costs.costs[static_cast<std::size_t>(algorithm) * protocol_count +
                  static_cast<std::size_t>(protocol)] = microseconds.get<float>();
    }
    rows.push_back(costs);
  }
  return rows;
}

namespace {

SearchedGraph read_graph(const nlohmann::json& graph) {
  return {graph.at("channels").get<int>(), graph.at("bwIntra").get<double>()};
}

}  // namespace

CostModelInputs read_stock_inputs(const std::filesystem::path& path) {
  std::ifstream file(path);
  const auto document = nlohmann::json::parse(file);
  CostModelInputs inputs;
  inputs.ranks = document.at("nRanks").get<int>();
  inputs.compute_capability = document.at("sm").get<int>();
  inputs.release = parse_nccl_release(document.at("nccl").get<std::string>()).value();
  inputs.ring = read_graph(document.at("ring"));
  inputs.tree = read_graph(document.at("tree"));
  return inputs;
}

}  // namespace lanewise::testing
