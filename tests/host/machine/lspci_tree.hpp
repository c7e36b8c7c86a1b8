// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Turns the text of `lspci -vvv` into a SysfsTree: enough of it for the reader of machines.
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sysfs_tree.hpp"

namespace lanewise {

struct LspciFunction {
  std::string address;  // with its domain
  std::string title;
  std::string numa = "-1";
  std::string speed = "Unknown";
  std::string width = "0";
  std::string secondary;  // bus below a bridge, two digits
};

inline std::string between(const std::string& line, const std::string& before,
                           const std::string& after) {
  const auto start = line.find(before);
  if (start == std::string::npos) return {};
  const auto from = start + before.size();
  return line.substr(from, line.find(after, from) - from);
}

inline std::vector<LspciFunction> parse_lspci(const std::filesystem::path& file) {
  std::vector<LspciFunction> functions;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line[0] != '\t' && line.size() > 8 && line[2] == ':') {
      functions.push_back({.address = "0000:" + line.substr(0, 7), .title = line.substr(8)});
      continue;
    }
    if (functions.empty()) continue;
    auto& function = functions.back();
    if (line.starts_with("\tNUMA node: ")) function.numa = line.substr(12);
    if (line.starts_with("\tBus: primary=")) function.secondary = between(line, "secondary=", ",");
    if (line.find("LnkCap:\t") != std::string::npos) {
      function.speed = between(line, "Speed ", "GT/s") + " GT/s PCIe";
      function.width = between(line, "Width x", ",");
    }
  }
  return functions;
}

inline SysfsTree::Attributes attributes_of(const LspciFunction& function) {
  const auto is = [&](const char* words) {
    return function.title.find(words) != std::string::npos;
  };
  return {{"vendor", is("NVIDIA")           ? "0x10de"
                     : is("Broadcom / LSI") ? "0x1000"
                                            : "0x1022"},
          {"device", is("PEX890xx")      ? "0xc030"
                     : is("Device 2bb5") ? "0x2bb5"
                                         : "0x1234"},
          {"class", is("PCI bridge")      ? "0x060400"
                    : is("3D controller") ? "0x030200"
                                          : "0x088000"},
          {"numa_node", function.numa},
          {"current_link_speed", "2.5 GT/s PCIe"},
          {"max_link_speed", function.speed},
          {"max_link_width", function.width}};
}

// Every bus that no bridge leads to belongs to a root complex.
inline void add_lspci(SysfsTree& tree, const std::vector<LspciFunction>& functions) {
  std::map<std::string, const LspciFunction*> bridge_to;
  for (const auto& function : functions) {
    if (!function.secondary.empty()) bridge_to[function.secondary] = &function;
  }
  for (const auto& function : functions) {
    std::string path = function.address;
    auto bus = function.address.substr(5, 2);
    while (bridge_to.contains(bus)) {
      path = bridge_to[bus]->address + "/" + path;
      bus = bridge_to[bus]->address.substr(5, 2);
    }
    tree.add_function("pci0000:" + bus + "/" + path, attributes_of(function));
  }
}

}  // namespace lanewise
