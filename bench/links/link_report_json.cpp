// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <nlohmann/json.hpp>

#include "link_report.hpp"

namespace lanewise::bench {
namespace {

using nlohmann::json;

template <typename Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json to_object(const PairResult& pair) {
  return {{"from", pair.flow.from},
          {"to", pair.flow.to},
          {"path", or_null(pair.path)},
          {"method", std::string(name_of(pair.method))},
          {"latency_us", or_null(pair.latency_us)},
          {"store_us", or_null(pair.store_us)},
          {"one_way_gbs", or_null(pair.one_way_gbs)},
          {"both_ways_gbs", or_null(pair.both_ways_gbs)},
          {"verified", !pair.error.has_value()},
          {"error", or_null(pair.error)}};
}

json to_object(const ContentionResult& result) {
  json flows = json::array();
  for (const Flow& flow : result.scenario.flows) {
    flows.push_back({{"from", flow.from}, {"to", flow.to}});
  }
  return {{"name", result.scenario.name},
          {"method", std::string(name_of(result.method))},
          {"flows", flows},
          {"alone_gbs", result.alone_gbs},
          {"together_gbs", result.together_gbs},
          {"share", or_null(result.share())},
          {"error", or_null(result.error)}};
}

}  // namespace

std::string to_json(const LinkReport& report) {
  json pairs = json::array();
  for (const PairResult& pair : report.pairs) pairs.push_back(to_object(pair));
  json contention = json::array();
  for (const ContentionResult& result : report.contention) contention.push_back(to_object(result));
  const json links = {{"gpus", report.machine.pci},
                      {"names", report.machine.names},
                      {"peer_access", report.machine.peer_access},
                      {"pairs", pairs},
                      {"all_pairs_gbs", or_null(report.all_pairs_gbs)},
                      {"all_pairs_error", or_null(report.all_pairs_error)},
                      {"contention", contention},
                      {"notes", report.notes}};
  // A device's name may hold any bytes; a report is better with a mark than not at all.
  return links.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace lanewise::bench
