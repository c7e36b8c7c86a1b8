// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/topology_source.hpp"

#include <string>
#include <system_error>

#include "bundled_machine.hpp"
#include "host/text_file.hpp"
#include "lanewise/error.hpp"
#include "topology_readers.hpp"

namespace lanewise::host {

Topology read_topology() {
  auto tree = read_machine_tree("/");
  tree.source = "this machine";
  return assemble(std::move(tree));
}

Topology read_topology_under(const std::filesystem::path& root) {
  std::error_code error;
  if (!std::filesystem::is_directory(root, error))
    throw Error(root.string(), 0, "expected a folder that holds sys and proc");
  auto tree = read_machine_tree(root);
  tree.source = root.string();
  return assemble(std::move(tree));
}

Topology read_topology(const std::filesystem::path& file) {
  return parse_topology(file.string(), read_text_file(file));
}

Topology parse_topology(std::string_view name, std::string_view text) {
  return assemble(parse_machine_tree(std::string(name), text));
}

Topology bundled_topology() { return parse_topology(bundled_machine_name, bundled_machine_xml); }

}  // namespace lanewise::host
