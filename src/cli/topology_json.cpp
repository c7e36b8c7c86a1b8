// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <array>
#include <charconv>
#include <cstdio>

#include "core/machine/topology_facts.hpp"
#include "host/files/json.hpp"
#include "topology_report.hpp"

namespace lanewise::cli {

namespace {

constexpr std::array nvlink_names = {"no", "yes", "unknown"};

std::string quote(std::string_view text) { return host::quote_json(text); }

std::string number(double value) {
  std::array<char, 32> text{};
  // Without the locale's decimal comma.
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 3);
  return {text.data(), end.ptr};
}

template <typename Integer>
std::string or_null(const std::optional<Integer>& value) {
  return value ? std::to_string(*value) : "null";
}

std::string boolean(bool value) { return value ? "true" : "false"; }

std::string hex_id(std::uint16_t id) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\"%04x\"", static_cast<unsigned>(id));
  return text.data();
}

std::string to_json(const PciLink& link) {
  if (!link.is_known()) return "null";
  return "{\"generation\":" + std::to_string(link.generation) +
         ",\"width\":" + std::to_string(link.width) +
         ",\"gigabytes_per_second\":" + number(link.gigabytes_per_second()) + "}";
}

std::string to_json(const NumaNode& node) {
  return "{\"number\":" + std::to_string(node.number) + ",\"socket\":" + or_null(node.socket) + "}";
}

std::string to_json(const Root& root) {
  return "{\"domain\":" + std::to_string(root.domain) + ",\"bus\":" + std::to_string(root.bus) +
         ",\"numa\":" + or_null(root.numa) + ",\"socket\":" + or_null(root.socket) + "}";
}

std::string to_json(const Bridge& bridge) {
  return "{\"address\":" + quote(to_string(bridge.address)) +
         ",\"vendor\":" + hex_id(bridge.vendor) + ",\"device\":" + hex_id(bridge.device) +
         ",\"link\":" + to_json(bridge.link) + ",\"parent\":" + or_null(bridge.parent) +
         ",\"root\":" + or_null(bridge.root) + "}";
}

std::string to_json(const Gpu& gpu) {
  const bool has_address = gpu.address.domain != no_domain;
  return "{\"address\":" + (has_address ? quote(to_string(gpu.address)) : "null") +
         ",\"vendor\":" + hex_id(gpu.vendor) + ",\"device\":" + hex_id(gpu.device) +
         ",\"model\":" + (gpu.model.empty() ? "null" : quote(gpu.model)) +
         ",\"compute_capability\":" +
         (gpu.compute_capability > 0 ? std::to_string(gpu.compute_capability) : "null") +
         ",\"link\":" + to_json(gpu.link) + ",\"narrowest\":" + to_json(gpu.narrowest) +
         ",\"bridge\":" + or_null(gpu.bridge) + ",\"root\":" + or_null(gpu.root) +
         ",\"numa\":" + or_null(gpu.numa) + ",\"nvlinks\":" + std::to_string(gpu.nvlinks) +
         ",\"number\":" + or_null(gpu.number) + "}";
}

std::string to_json(const std::string& text) { return quote(text); }

std::string to_json(std::size_t index) { return std::to_string(index); }

std::string to_json(const SharedUplink& uplink);

template <typename Value>
std::string list(const std::vector<Value>& values) {
  std::string text = "[";
  for (const auto& value : values) text += (text.size() > 1 ? "," : "") + to_json(value);
  return text + "]";
}

std::string to_json(const SharedUplink& uplink) {
  return "{\"bridge\":" + std::to_string(uplink.bridge) + ",\"gpus\":" + list(uplink.gpus) +
         ",\"oversubscription\":" +
         (uplink.oversubscription ? number(*uplink.oversubscription) : "null") + "}";
}

std::string paths(const Topology& topology) {
  std::string text = "[";
  for (std::size_t row = 0; row < topology.gpus.size(); ++row) {
    std::vector<std::string> names;
    for (std::size_t column = 0; column < topology.gpus.size(); ++column)
      names.emplace_back(name_of(topology.path(row, column)));
    text += (row > 0 ? "," : "") + list(names);
  }
  return text + "]";
}

}  // namespace

std::string to_json(const Topology& topology) {
  const auto ability = static_cast<std::size_t>(can_have_nvlink(topology));
  return "{\"schema_version\":1,\"source\":" + quote(topology.source) +
         ",\"fingerprint\":" + quote(fingerprint(topology)) +
         ",\"is_guest\":" + boolean(topology.is_guest) + ",\"cpu\":{\"vendor\":" +
         (topology.cpu_vendor.empty() ? "null" : quote(topology.cpu_vendor)) +
         ",\"family\":" + std::to_string(topology.cpu_family) +
         ",\"model\":" + std::to_string(topology.cpu_model) +
         "},\"numa_nodes\":" + list(topology.numa_nodes) + ",\"roots\":" + list(topology.roots) +
         ",\"bridges\":" + list(topology.bridges) + ",\"gpus\":" + list(topology.gpus) +
         ",\"paths\":" + paths(topology) + ",\"shared_uplinks\":" + list(shared_uplinks(topology)) +
         ",\"has_collapsing_switch\":" + boolean(has_collapsing_switch(topology)) +
         ",\"can_have_nvlink\":" + quote(nvlink_names.at(ability)) +
         ",\"has_nvlink\":" + boolean(topology.has_nvlink()) +
         ",\"nvswitches\":" + std::to_string(topology.nvswitches) +
         ",\"notes\":" + list(topology.notes) + "}\n";
}

}  // namespace lanewise::cli
