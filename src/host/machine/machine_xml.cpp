// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine_xml.hpp"

#include <charconv>

#include "topology_readers.hpp"

namespace lanewise::host {

std::optional<int> XmlAttributes::number(std::string_view attribute, int base, int limit) const {
  const auto value = element_.find(attribute);
  if (!value || value->empty()) return std::nullopt;
  auto digits = *value;
  if (base == 16 && digits.starts_with("0x")) digits.remove_prefix(2);
  int number = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  const int least = base == 10 ? -1 : 0;
  if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size() ||
      number < least || number > limit)
    fail("expected " + std::string(attribute) + " to be a number from 0 to " +
         std::to_string(limit) + (least < 0 ? ", or -1 where it is not known" : "") + ", found \"" +
         std::string(*value) + "\"");
  return number;
}

PciAddress XmlAttributes::address(std::string_view attribute) const {
  const auto value = element_.find(attribute);
  if (!value) fail("expected the attribute " + std::string(attribute));
  const auto address = parse_pci_address(*value);
  if (!address)
    fail("expected " + std::string(attribute) + " to be a PCI address like 0000:c1:00.0, found \"" +
         std::string(*value) + "\"");
  return *address;
}

MachineTree parse_machine_tree(const std::string& name, std::string_view text) {
  const auto root = parse_xml(name, text);
  MachineTree tree;
  if (root.name == "system") {
    tree = read_nccl_machine(name, root);
  } else if (root.name == "topology") {
    tree = read_hwloc_machine(name, root);
  } else if (root.name == "graphs") {
    throw Error(name, root.line,
                "this is an NCCL graph file; expected a topology, as NCCL_TOPO_DUMP_FILE writes");
  } else {
    throw Error(
        name, root.line,
        "expected <system> (NCCL's topology) or <topology> (hwloc's), found <" + root.name + ">");
  }
  tree.source = name;
  return tree;
}

}  // namespace lanewise::host
