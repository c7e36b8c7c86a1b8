// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/machine/topology_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "bundled_machine.hpp"
#include "core/error.hpp"
#include "host/files/text_file.hpp"
#include "machine_topo_matrix.hpp"
#include "topology_readers.hpp"

namespace lanewise::host {

namespace {

// The flags of the first processor end well before this; the rest of the file repeats them.
constexpr std::size_t first_processor_bytes = 8192;

// Whether the processor's flags name a hypervisor.
bool is_guest_machine(const std::filesystem::path& root) {
  const int file = ::open((root / "proc/cpuinfo").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  std::string text(first_processor_bytes, '\0');
  const auto length = ::read(file, text.data(), text.size());
  ::close(file);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  const auto flags = text.find("\nflags");
  if (flags == std::string::npos) return false;
  const auto line = std::string_view(text).substr(flags + 1, text.find('\n', flags + 1) - flags);
  return line.find(" hypervisor") != std::string_view::npos;
}

void note_what_is_missing(MachineTree& tree, const std::filesystem::path& root) {
  constexpr std::array needed = {"sys/bus/pci/devices", "sys/devices/system/node"};
  for (const char* folder : needed) {
    std::error_code error;
    std::filesystem::directory_iterator(root / folder, error);
    if (error)
      tree.notes.push_back("/" + std::string(folder) + " cannot be read (" + error.message() +
                           "); in a container, give it a view of /sys");
  }
}

Topology read_machine(const std::filesystem::path& root, std::string source) {
  const auto processors = read_processors(root);
  MachineTree tree;
  tree.source = std::move(source);
  tree.numa_nodes = processors.numa_nodes;
  tree.cpu_vendor = processors.vendor;
  tree.cpu_family = processors.family;
  tree.cpu_model = processors.model;
  tree.is_guest = is_guest_machine(root);
  note_what_is_missing(tree, root);
  add_pci_tree(tree, root, processors);
  return assemble(std::move(tree));
}

}  // namespace

Topology read_topology() { return read_machine("/", std::string(this_machine)); }

Topology read_topology_under(const std::filesystem::path& root) {
  std::error_code error;
  if (!std::filesystem::is_directory(root, error))
    throw Error(root.string(), 0, "expected a folder that holds sys and proc");
  return read_machine(root, root.string());
}

Topology read_topology(const std::filesystem::path& file) {
  return parse_topology(file.string(), read_text_file(file));
}

Topology view_topology(const std::filesystem::path& file) {
  return parse_topology(file.string(), view_text_file(file));
}

Topology parse_topology(std::string_view name, std::string_view text) {
  if (is_topo_matrix(text)) return read_topo_matrix(std::string(name), text);
  return assemble(parse_machine_tree(std::string(name), text));
}

Topology bundled_topology() { return parse_topology(bundled_machine_name, bundled_machine_xml); }

}  // namespace lanewise::host
