// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "core/machine/gpu_selection.hpp"
#include "core/machine/topology_facts.hpp"
#include "host/machine/topology_source.hpp"
#include "topology_report.hpp"
#include "words.hpp"

namespace lanewise::cli {

namespace {

constexpr std::size_t label_width = 7;
constexpr std::size_t cell_width = 6;

struct Legend {
  PathType path;
  const char* meaning;
};
// The words of nvidia-smi topo -m.
constexpr std::array legends = {
    Legend{PathType::pix, "at most a single PCIe switch"},
    Legend{PathType::pxb, "several PCIe switches, not the host bridge"},
    Legend{PathType::phb, "a PCIe host bridge (the CPU)"},
    Legend{PathType::node, "host bridges of one NUMA node"},
    Legend{PathType::sys, "the interconnect between NUMA nodes"},
    Legend{PathType::net, "the network between two hosts"},
    Legend{PathType::unknown, "unknown: the source names neither a common bridge nor NUMA nodes"},
};

std::string one_decimal(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}

std::string or_unknown(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "?";
}

std::string describe(const PciLink& link) {
  if (!link.is_known()) return "link unknown";
  return "Gen" + std::to_string(link.generation) + " x" + std::to_string(link.width);
}

std::string gpu_name(const Topology& topology, std::size_t index) {
  return "GPU" + std::to_string(gpu_numbers(topology)[index]);
}

std::string hex_id(std::uint16_t vendor, std::uint16_t device) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04x:%04x", static_cast<unsigned>(vendor),
                static_cast<unsigned>(device));
  return text.data();
}

std::string model_of(const Gpu& gpu) {
  if (gpu.device == 0 && gpu.model.empty()) return "NVIDIA GPU of unknown model";
  return gpu.model.empty() ? "NVIDIA GPU " + hex_id(gpu.vendor, gpu.device) : gpu.model;
}

std::string head(const Topology& topology) {
  std::map<std::string, int> models;
  for (const auto& gpu : topology.gpus) ++models[model_of(gpu)];
  std::string text = "machine      " + topology.source + "\n";
  for (const auto& [model, count] : models)
    text += "GPUs         " + std::to_string(count) + " x " + model + "\n";
  if (!topology.cpu_vendor.empty())
    text += "processor    " + topology.cpu_vendor + " family " +
            std::to_string(topology.cpu_family) + " model " + std::to_string(topology.cpu_model) +
            "\n";
  if (count_hosts(topology) > 1)
    text += "hosts        " + std::to_string(count_hosts(topology)) + "\n";
  text += "NUMA nodes   " + std::to_string(topology.numa_nodes.size()) + "\n";
  text += "fingerprint  " + fingerprint(topology);
  // Whoever names a profile after it must know.
  if (topology.source != host::this_machine)
    text += "  of this file; the machine's /sys has its own";
  text += "\n";
  return text;
}

std::string matrix(const Topology& topology) {
  const auto count = topology.gpus.size();
  std::string text = "\n" + pad("", label_width);
  for (std::size_t column = 0; column < count; ++column)
    text += pad(gpu_name(topology, column), cell_width);
  text += "NUMA\n";
  for (std::size_t row = 0; row < count; ++row) {
    text += pad(gpu_name(topology, row), label_width);
    for (std::size_t column = 0; column < count; ++column)
      text += pad(std::string(name_of(topology.path(row, column))), cell_width);
    text += or_unknown(topology.gpus[row].numa) + "\n";
  }
  text += "\n";
  for (const auto& legend : legends) {
    bool is_used = false;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < a; ++b) is_used |= topology.path(a, b) == legend.path;
    }
    if (is_used)
      text += "  " + pad(std::string(name_of(legend.path)), cell_width) + legend.meaning + "\n";
  }
  return text;
}

// A branch of the picture: its own line and what hangs below.
struct Branch {
  std::string label;
  std::vector<Branch> below;
};

void draw(const Branch& branch, const std::string& indent, std::string& text) {
  for (std::size_t index = 0; index < branch.below.size(); ++index) {
    const bool is_last = index + 1 == branch.below.size();
    text += indent + (is_last ? "`- " : "+- ") + branch.below[index].label + "\n";
    draw(branch.below[index], indent + (is_last ? "   " : "|  "), text);
  }
}

std::string address_of(const Gpu& gpu) {
  return gpu.address.domain == no_domain ? "" : " " + to_string(gpu.address);
}

std::vector<Branch> branches(const Topology& topology, std::optional<std::size_t> root,
                             std::optional<std::size_t> bridge) {
  std::vector<Branch> found;
  for (std::size_t index = 0; index < topology.bridges.size(); ++index) {
    const Bridge& child = topology.bridges[index];
    const bool is_here = bridge ? child.parent == bridge : !child.parent && child.root == root;
    if (!is_here) continue;
    found.push_back({"switch " + to_string(child.address) + "  " +
                         hex_id(child.vendor, child.device) + "  up " + describe(child.link),
                     branches(topology, root, index)});
  }
  for (std::size_t index = 0; index < topology.gpus.size(); ++index) {
    const Gpu& gpu = topology.gpus[index];
    const bool is_here = bridge ? gpu.bridge == bridge : !gpu.bridge && gpu.root == root;
    if (!is_here) continue;
    std::string label = gpu_name(topology, index) + address_of(gpu) + "  " + model_of(gpu) + "  " +
                        describe(gpu.link);
    if (gpu.nvlinks > 0) label += "  " + std::to_string(gpu.nvlinks) + " NVLinks";
    found.push_back({label, {}});
  }
  return found;
}

std::string tree(const Topology& topology) {
  std::string text = "\n";
  std::vector<std::optional<std::size_t>> roots;
  for (std::size_t index = 0; index < topology.roots.size(); ++index) roots.emplace_back(index);
  roots.emplace_back(std::nullopt);
  for (const auto& root : roots) {
    const Branch branch{"", branches(topology, root, std::nullopt)};
    if (branch.below.empty()) continue;
    if (root) {
      const Root& place = topology.roots[*root];
      const auto first = to_string(PciAddress{.domain = place.domain, .bus = place.bus});
      text += "root " + first.substr(0, first.rfind(':')) + "  NUMA " + or_unknown(place.numa);
      if (place.socket) text += "  socket " + std::to_string(*place.socket);
      text += "\n";
    } else {
      text += "root unknown\n";
    }
    draw(branch, "", text);
  }
  return text;
}

std::string facts(const Topology& topology) {
  std::string text = "\n";
  for (std::size_t index = 0; index < topology.gpus.size(); ++index) {
    const Gpu& gpu = topology.gpus[index];
    text += pad(gpu_name(topology, index), label_width) + describe(gpu.link);
    if (gpu.link.is_known())
      text += ", " + one_decimal(gpu.link.gigabytes_per_second()) + " GB/s each way";
    if (gpu.narrowest.is_known() && gpu.narrowest != gpu.link)
      text += "; narrowest hop to the root " + describe(gpu.narrowest) + ", " +
              one_decimal(gpu.narrowest.gigabytes_per_second()) + " GB/s";
    text += "\n";
  }
  for (const auto& uplink : shared_uplinks(topology)) {
    text += "shared uplink  switch " + to_string(topology.bridges[uplink.bridge].address) + ":";
    for (const auto gpu : uplink.gpus) text += " " + gpu_name(topology, gpu);
    text += uplink.oversubscription
                ? ", their links are " + one_decimal(*uplink.oversubscription) + " times the uplink"
                : ", a link is unknown";
    text += "\n";
  }
  return text;
}

std::string warnings(const Topology& topology) {
  std::string text;
  if (has_collapsing_switch(topology))
    text +=
        "warning  PEX890xx cut into virtual switches: may fall to 2.7 GB/s when two GPUs of one "
        "write to two root ports; measure before using Tree\n";
  if (topology.has_nvlink()) text += "note  NVLink: Lanewise leaves these GPUs to NCCL\n";
  if (topology.is_guest) text += "note  a virtual machine: the tree need not be the physical one\n";
  for (const auto& note : topology.notes) text += "note  " + note + "\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string to_text(const Topology& topology) {
  std::string text = head(topology);
  if (!topology.gpus.empty()) text += matrix(topology) + tree(topology) + facts(topology);
  return text + warnings(topology);
}

}  // namespace lanewise::cli
