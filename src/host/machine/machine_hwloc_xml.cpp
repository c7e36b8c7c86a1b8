// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>

#include "files/split_text.hpp"
#include "machine_xml.hpp"

namespace lanewise::host {

namespace {

constexpr int largest_index = 1 << 20;
constexpr std::size_t most_linked_devices = 1024;
// What the firmware of a virtual machine calls itself.
constexpr std::array<std::string_view, 6> guest_names = {
    "QEMU", "KVM", "VMware", "VirtualBox", "HVM domU", "Virtual Machine"};

// The only member of a set written as "0x00000001" or "0x1,,0x0" (32 bits a field, highest first).
std::optional<int> single_member(std::string_view set) {
  std::optional<int> member;
  const auto fields = std::ranges::count(set, ',') + 1;
  int offset = static_cast<int>(fields) * 32;
  for (auto digits : split_text(set, ',')) {
    offset -= 32;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::uint32_t bits = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    if (bits == 0) continue;
    if (member || std::popcount(bits) != 1) return std::nullopt;
    member = offset + std::countr_zero(bits);
  }
  return member;
}

// Where the walk is: the place an object hangs at.
struct Place {
  std::optional<int> numa;
  std::optional<int> socket;
  std::optional<std::size_t> node;  // index into MachineTree::nodes
};

class HwlocReader {
 public:
  HwlocReader(const std::string& file, const XmlElement& topology)
      : file_(file), topology_(topology) {}

  MachineTree read() {
    const auto version = topology_.find("version").value_or("");
    if (!version.starts_with("2.") && !version.starts_with("3."))
      XmlAttributes(file_, topology_).fail("expected version 2 or 3 of hwloc's XML");
    for (const auto& child : topology_.children) {
      if (child.name == "object") read_object(child, {});
    }
    for (const auto& child : topology_.children) {
      if (child.name.starts_with("distances2") && child.find("name") == "NVLinkBandwidth")
        read_nvlinks(child);
    }
    std::ranges::sort(tree_.numa_nodes, {}, &NumaNode::number);
    return std::move(tree_);
  }

 private:
  void read_object(const XmlElement& object, Place place) {
    const auto type = object.find("type");
    if (!type) XmlAttributes(file_, object).fail("expected the attribute type");
    if (*type == "Bridge") {
      read_bridge(object, place);
    } else if (*type == "PCIDev") {
      place.node = add_node(object, place);
    } else if (*type == "OSDev") {
      if (place.node) remember_index(object, *place.node);
    } else {
      read_place(object, *type, place);
    }
    for (const auto& child : object.children) {
      if (child.name == "object") read_object(child, place);
      if (child.name == "info") read_info(child);
    }
  }

  void read_place(const XmlElement& object, std::string_view type, Place& place) {
    const auto index = XmlAttributes(file_, object).number("os_index", 10, largest_index);
    if (type == "Package") place.socket = index;
    place.numa = single_member(object.find("nodeset").value_or(""));
    if (type != "NUMANode") return;
    if (!index || *index < 0) XmlAttributes(file_, object).fail("expected the attribute os_index");
    // The memory of a GPU is a node too, one without processors.
    if (object.find("subtype") != "GPUMemory")
      tree_.numa_nodes.push_back({.number = *index, .socket = place.socket});
  }

  void read_bridge(const XmlElement& object, Place& place) {
    const bool is_host_bridge = object.find("bridge_type").value_or("").starts_with("0-");
    if (!is_host_bridge) {
      place.node = add_node(object, place);
      return;
    }
    // "0000:[2b-3b]": the domain and the buses below.
    const auto buses = object.find("bridge_pci").value_or("");
    const auto colon = buses.find(":[");
    const auto address = colon == std::string_view::npos
                             ? std::nullopt
                             : parse_pci_address(std::string(buses.substr(0, colon)) + ":" +
                                                 std::string(buses.substr(colon + 2, 2)) + ":00.0");
    if (!address)
      XmlAttributes(file_, object).fail("expected bridge_pci to be a range like 0000:[00-1b]");
    tree_.roots.push_back({.domain = address->domain,
                           .bus = address->bus,
                           .numa = place.numa,
                           .socket = place.socket});
    place.node.reset();
  }

  std::size_t add_node(const XmlElement& object, const Place& place) {
    const XmlAttributes attributes(file_, object);
    if (tree_.roots.empty()) attributes.fail("expected below a host bridge");
    PciNode node{.address = attributes.address("pci_busid"), .parent = place.node};
    node.root = tree_.roots.size() - 1;
    read_ids(object, node);
    node.is_gpu = is_nvidia_gpu(node);
    if (node.is_gpu && ++gpus_ > most_gpus)
      attributes.fail("expected at most " + std::to_string(most_gpus) + " GPUs");
    tree_.nodes.push_back(node);
    remember_index(object, tree_.nodes.size() - 1);
    return tree_.nodes.size() - 1;
  }

  // pci_type="0302 [10de:1db8] [10de:131d] a1 00": class, vendor and device, subsystem, revision.
  void read_ids(const XmlElement& object, PciNode& node) const {
    const auto text = object.find("pci_type").value_or("");
    const auto read = [&](std::size_t start, std::uint16_t& value) {
      const char* begin = text.data() + start;
      const auto [stop, error] = std::from_chars(begin, begin + 4, value, 16);
      return error == std::errc() && stop == begin + 4;
    };
    constexpr std::size_t shortest = std::string_view("0302 [10de:1db8]").size();
    if (text.size() < shortest || !read(0, node.class_code) || !read(6, node.vendor) ||
        !read(11, node.device))
      XmlAttributes(file_, object)
          .fail("expected pci_type to be like \"0302 [10de:1db8]\", found \"" + std::string(text) +
                "\"");
  }

  void remember_index(const XmlElement& object, std::size_t node) {
    node_of_index_.emplace(object.find("gp_index").value_or(""), node);
  }

  void read_info(const XmlElement& info) {
    const auto name = info.find("name").value_or("");
    const auto value = info.find("value").value_or("");
    if (name == "CPUVendor") tree_.cpu_vendor = value;
    if (name == "CPUFamilyNumber" || name == "CPUModelNumber") {
      auto& number = name == "CPUFamilyNumber" ? tree_.cpu_family : tree_.cpu_model;
      number = XmlAttributes(file_, info).number("value", 10, largest_index).value_or(0);
    }
    if (name == "DMISysVendor" || name == "DMIProductName") {
      const auto is_named = [&](std::string_view guest) {
        return value.find(guest) != std::string_view::npos;
      };
      if (std::ranges::any_of(guest_names, is_named)) tree_.is_guest = true;
    }
  }

  // A matrix of bandwidths: every other device that a GPU reaches is a link, at least one.
  void read_nvlinks(const XmlElement& matrix) {
    std::vector<std::string> devices;
    std::vector<std::string> values;
    for (const auto& child : matrix.children) {
      auto& words = child.name == "indexes" ? devices : values;
      for (const auto word : split_text(child.text, ' ')) {
        if (!word.empty()) words.emplace_back(word);
      }
    }
    if (devices.size() > most_linked_devices || values.size() != devices.size() * devices.size())
      XmlAttributes(file_, matrix).fail("expected a square matrix of its indexes");
    for (std::size_t row = 0; row < devices.size(); ++row) {
      const auto& device = devices[row];
      const auto found = node_of_index_.find(device.substr(device.rfind(':') + 1));
      if (found == node_of_index_.end()) continue;
      for (std::size_t column = 0; column < devices.size(); ++column) {
        if (row != column && values[row * devices.size() + column] != "0")
          ++tree_.nodes[found->second].nvlinks;
      }
    }
  }

  const std::string& file_;
  const XmlElement& topology_;
  MachineTree tree_;
  std::size_t gpus_ = 0;
  std::map<std::string, std::size_t, std::less<>> node_of_index_;
};

}  // namespace

MachineTree read_hwloc_machine(const std::string& file, const XmlElement& topology) {
  return HwlocReader(file, topology).read();
}

}  // namespace lanewise::host
