// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// The two kinds of machine files, each from its XML to a MachineTree, and what both readers share.
#include <string>

#include "core/error.hpp"
#include "machine_tree.hpp"
#include "xml_element.hpp"

namespace lanewise::host {

[[nodiscard]] MachineTree read_nccl_machine(const std::string& file, const XmlElement& system);
[[nodiscard]] MachineTree read_hwloc_machine(const std::string& file, const XmlElement& topology);

// Reads attributes of one element; every fault is an Error with the element's line.
class XmlAttributes {
 public:
  XmlAttributes(const std::string& file, const XmlElement& element)
      : file_(file), element_(element) {}

  // The attribute as a number in base 10 or 16 (with or without 0x); none where it is missing or
  // empty. Throws where it is anything else or outside 0 (or -1, for base 10) to `limit`.
  [[nodiscard]] std::optional<int> number(std::string_view attribute, int base, int limit) const;
  // Throws where the attribute is missing or no PCI address.
  [[nodiscard]] PciAddress address(std::string_view attribute) const;
  [[noreturn]] void fail(const std::string& expectation) const {
    throw Error(file_, element_.line, "<" + element_.name + ">: " + expectation);
  }

 private:
  const std::string& file_;
  const XmlElement& element_;
};

}  // namespace lanewise::host
