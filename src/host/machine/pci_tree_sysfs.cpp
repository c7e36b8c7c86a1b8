// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>
#include <string>
#include <system_error>

#include "topology_readers.hpp"

namespace lanewise::host {

namespace {

namespace fs = std::filesystem;

// Every attribute read here is one short line.
constexpr std::size_t longest_attribute = 4096;
// The widest link that PCI Express knows is x32; sysfs writes 255 for an unknown width.
constexpr int widest_link = 32;

struct LinkSpeed {
  std::string_view gigatransfers;
  int generation;
};
constexpr std::array link_speeds = {LinkSpeed{"2.5", 1}, LinkSpeed{"5", 2},  LinkSpeed{"8", 3},
                                    LinkSpeed{"16", 4},  LinkSpeed{"32", 5}, LinkSpeed{"64", 6}};

// Its first line; empty where it cannot be read.
std::string read_attribute(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {};
  std::array<char, longest_attribute> buffer{};
  const auto length = ::read(descriptor, buffer.data(), buffer.size());
  ::close(descriptor);
  if (length <= 0) return {};
  const std::string_view text(buffer.data(), static_cast<std::size_t>(length));
  return std::string(text.substr(0, text.find('\n')));
}

std::optional<int> parse_number(std::string_view text, int base) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::uint16_t read_id(const fs::path& file) {
  return static_cast<std::uint16_t>(parse_number(read_attribute(file), 16).value_or(0));
}

PciLink read_link(const fs::path& folder) {
  return parse_link(read_attribute(folder / "max_link_speed"),
                    parse_number(read_attribute(folder / "max_link_width"), 10).value_or(0));
}

// "pci0000:c9", the kernel's name of a root complex.
std::optional<Root> parse_root(std::string_view name) {
  if (!name.starts_with("pci")) return std::nullopt;
  const auto address = parse_pci_address(std::string(name.substr(3)) + ":00.0");
  if (!address || name.find(':') == std::string_view::npos) return std::nullopt;
  return Root{.domain = address->domain, .bus = address->bus};
}

class SysfsWalk {
 public:
  SysfsWalk(MachineTree& tree, const fs::path& root, const Processors& processors)
      : tree_(tree), folder_(root / "sys/bus/pci/devices"), processors_(processors) {}

  void run() {
    for (const auto& address : nvidia_functions())
      add_function(address, folder_ / to_string(address));
  }

 private:
  // In order of address: a folder's own order is not the same on every boot.
  [[nodiscard]] std::vector<PciAddress> nvidia_functions() const {
    std::vector<PciAddress> functions;
    std::error_code error;
    fs::directory_iterator entries(folder_, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      const auto address = parse_pci_address(entries->path().filename().native());
      // Most functions of a machine are someone else's: one file tells.
      if (address && read_id(entries->path() / "vendor") == nvidia_vendor)
        functions.push_back(*address);
    }
    std::ranges::sort(functions);
    return functions;
  }

  void add_function(const PciAddress& address, const fs::path& folder) {
    const auto class_code = static_cast<std::uint16_t>(
        parse_number(read_attribute(folder / "class"), 16).value_or(0) >> 8);
    const PciNode probe{.vendor = nvidia_vendor, .class_code = class_code};
    if (is_nvidia_gpu(probe)) {
      add_path(address, folder);
    } else if (class_code == class_other_bridge) {
      PciNode node = probe;
      node.address = address;
      tree_.nodes.push_back(node);
    }
  }

  // The entry is a link like ../../../devices/pci0000:c9/0000:c9:01.0/0000:ca:00.0: the root, then
  // every bridge down to the function. Behind a VMD controller a second root follows.
  void add_path(const PciAddress& gpu, const fs::path& folder) {
    std::error_code error;
    const auto path = fs::read_symlink(folder, error);
    std::optional<std::size_t> parent;
    std::optional<std::size_t> root;
    for (const auto& step : path.parent_path()) {
      const auto& name = step.native();
      if (const auto found = parse_root(name)) {
        root = intern_root(*found);
        parent.reset();
      } else if (const auto bridge = parse_pci_address(name); bridge && root) {
        parent = intern_node(*bridge, parent, root);
      }
    }
    const auto index = intern_node(gpu, parent, root);
    PciNode& node = tree_.nodes[index];
    node.is_gpu = true;
    find_numa(node, folder);
  }

  std::size_t intern_root(const Root& root) {
    const auto found = std::ranges::find_if(tree_.roots, [&](const Root& known) {
      return known.domain == root.domain && known.bus == root.bus;
    });
    if (found != tree_.roots.end()) return static_cast<std::size_t>(found - tree_.roots.begin());
    tree_.roots.push_back(root);
    return tree_.roots.size() - 1;
  }

  std::size_t intern_node(const PciAddress& address, std::optional<std::size_t> parent,
                          std::optional<std::size_t> root) {
    const auto found = std::ranges::find(tree_.nodes, address, &PciNode::address);
    if (found != tree_.nodes.end()) return static_cast<std::size_t>(found - tree_.nodes.begin());
    const auto folder = folder_ / to_string(address);
    PciNode node{.address = address, .parent = parent, .root = root};
    node.vendor = read_id(folder / "vendor");
    node.device = read_id(folder / "device");
    node.class_code = static_cast<std::uint16_t>(
        parse_number(read_attribute(folder / "class"), 16).value_or(0) >> 8);
    node.link = read_link(folder);
    read_numa(node, folder);
    tree_.nodes.push_back(node);
    return tree_.nodes.size() - 1;
  }

  // A node that the machine does not have is as unknown as -1.
  void read_numa(PciNode& node, const fs::path& folder) {
    const auto numa = parse_number(read_attribute(folder / "numa_node"), 10);
    if (!numa || *numa < 0) return;
    if (processors_.find_node(*numa) != nullptr) {
      node.numa = numa;
      return;
    }
    node.is_numa_contradicted = true;
    tree_.notes.push_back(to_string(node.address) + ": numa_node " + std::to_string(*numa) +
                          " does not exist on this machine; taken as unknown");
  }

  // The function's own word first, then its CPUs, then the nearest bridge that knows.
  void find_numa(PciNode& node, const fs::path& folder) {
    std::optional<int> above;
    for (auto index = node.parent; index; index = tree_.nodes[*index].parent) {
      if (tree_.nodes[*index].numa) above = tree_.nodes[*index].numa;
    }
    if (node.numa && above && node.numa != above)
      tree_.notes.push_back(to_string(node.address) + ": numa_node says " +
                            std::to_string(*node.numa) + ", the port above it " +
                            std::to_string(*above) + "; the locality is not to be trusted");
    if (!node.numa) node.numa = processors_.node_of(read_attribute(folder / "local_cpulist"));
    if (!node.numa) node.numa = above;
    if (!node.root) return;
    Root& root = tree_.roots[*node.root];
    if (!root.numa) root.numa = above ? above : node.numa;
    if (const auto* known = root.numa ? processors_.find_node(*root.numa) : nullptr)
      root.socket = known->socket;
  }

  MachineTree& tree_;
  fs::path folder_;
  const Processors& processors_;
};

}  // namespace

PciLink parse_link(std::string_view speed, long long lanes) noexcept {
  constexpr std::string_view unit = " GT/s";
  const auto end = speed.find(unit);
  if (end == std::string_view::npos || lanes <= 0 || lanes > widest_link) return {};
  auto number = speed.substr(0, end);
  if (number.ends_with(".0")) number.remove_suffix(2);
  for (const auto& known : link_speeds) {
    if (known.gigatransfers == number)
      return {.generation = known.generation, .width = static_cast<int>(lanes)};
  }
  return {};
}

void add_pci_tree(MachineTree& tree, const std::filesystem::path& root,
                  const Processors& processors) {
  SysfsWalk(tree, root, processors).run();
}

}  // namespace lanewise::host
