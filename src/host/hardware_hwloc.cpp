// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "lanewise/error.hpp"
#include "topology_readers.hpp"

namespace {

// The root folder for the discovery that this thread runs now; null for "/".
constinit thread_local const char* discovery_root = nullptr;

}  // namespace

#ifdef LANEWISE_HWLOC_HAS_HOOK
// scripts/deps.sh builds hwloc with getenv renamed to this. A user's HWLOC_ variable would make one
// rank see another machine than its peers, and hwloc's own way of silencing it is a variable too.
extern "C" char* lanewise_hwloc_getenv(const char* name) {
  static std::array<char, 2> hide_all = {'2', '\0'};
  const std::string_view wanted = name;
  if (wanted == "HWLOC_HIDE_ERRORS") return hide_all.data();
  if (wanted == "HWLOC_FSROOT") return const_cast<char*>(discovery_root);
  return nullptr;
}
#endif

namespace lanewise::host {

namespace {

struct TopologyCloser {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, TopologyCloser>;

class RootScope {
 public:
  explicit RootScope(const char* root) { discovery_root = root; }
  ~RootScope() { discovery_root = nullptr; }
  RootScope(const RootScope&) = delete;
  RootScope& operator=(const RootScope&) = delete;
};

// GPU libraries must not be started by a look at the machine (a later fork would break CUDA), the
// x86 backend binds to every processor in turn, and pciaccess needs a library of its own.
constexpr std::array unwanted_components = {"cuda",      "nvml", "opencl", "gl",
                                            "levelzero", "rsmi", "x86",    "pci"};

void check(int result, const char* action) {
  if (result < 0) throw Error(std::string("hwloc: ") + action + ": " + std::strerror(errno));
}

TopologyHandle load(const std::filesystem::path& root) {
  const bool is_this_machine = root == "/";
  const RootScope scope(is_this_machine ? nullptr : root.c_str());
  hwloc_topology_t raw = nullptr;
  check(hwloc_topology_init(&raw), "init");
  TopologyHandle topology(raw);
  for (const char* component : unwanted_components) {
    // Fails where this hwloc was built without the component, which is as good.
    (void)hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  // Groups hold NUMA nodes smaller than a package.
  check(hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE), "filter");
  check(hwloc_topology_set_type_filter(raw, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE),
        "filter groups");
  check(hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL),
        "filter packages");
  check(hwloc_topology_set_type_filter(raw, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_ALL),
        "filter bridges");
  check(hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT),
        "filter devices");
  check(hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED), "flags");
  check(hwloc_topology_load(raw), "load");
  return topology;
}

int number_of(const char* text) {
  int number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

std::optional<int> package_of(hwloc_obj_t object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PACKAGE) object = object->parent;
  if (object == nullptr || object->os_index == HWLOC_UNKNOWN_INDEX) return std::nullopt;
  return static_cast<int>(object->os_index);
}

std::optional<int> single_node_of(hwloc_obj_t object) {
  const hwloc_obj_t place = object;
  if (place == nullptr || place->nodeset == nullptr || hwloc_bitmap_weight(place->nodeset) != 1)
    return std::nullopt;
  return hwloc_bitmap_first(place->nodeset);
}

// Walks hwloc's objects into a MachineTree.
class Walk {
 public:
  explicit Walk(hwloc_topology_t topology) : topology_(topology) {}

  MachineTree run() {
    add_numa_nodes();
    add_processor();
    for (auto* host = next_host_bridge(nullptr); host != nullptr; host = next_host_bridge(host))
      add_host_bridge(host);
    return std::move(tree_);
  }

 private:
  hwloc_obj_t next_host_bridge(hwloc_obj_t previous) const {
    auto* bridge = hwloc_get_next_bridge(topology_, previous);
    while (bridge != nullptr && bridge->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_HOST)
      bridge = hwloc_get_next_bridge(topology_, bridge);
    return bridge;
  }

  void add_numa_nodes() {
    hwloc_obj_t node = nullptr;
    while ((node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node)) != nullptr)
      tree_.numa_nodes.push_back(
          {.number = static_cast<int>(node->os_index), .socket = package_of(node)});
    std::ranges::sort(tree_.numa_nodes, {}, &NumaNode::number);
  }

  void add_processor() {
    auto* place = hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, 0);
    if (place == nullptr) place = hwloc_get_root_obj(topology_);
    const char* vendor = hwloc_obj_get_info_by_name(place, "CPUVendor");
    if (vendor != nullptr) tree_.cpu_vendor = vendor;
    tree_.cpu_family = number_of(hwloc_obj_get_info_by_name(place, "CPUFamilyNumber"));
    tree_.cpu_model = number_of(hwloc_obj_get_info_by_name(place, "CPUModelNumber"));
  }

  void add_host_bridge(hwloc_obj_t host) {
    auto* place = hwloc_get_non_io_ancestor_obj(topology_, host);
    const auto& pci = host->attr->bridge.downstream.pci;
    tree_.roots.push_back({.domain = pci.domain,
                           .bus = pci.secondary_bus,
                           .numa = single_node_of(place),
                           .socket = package_of(place)});
    add_children(host, std::nullopt);
  }

  void add_children(hwloc_obj_t above, std::optional<std::size_t> parent) {
    for (auto* child = above->io_first_child; child != nullptr; child = child->next_sibling) {
      const bool is_bridge = child->type == HWLOC_OBJ_BRIDGE;
      if (!is_bridge && child->type != HWLOC_OBJ_PCI_DEVICE) continue;
      const auto& pci = is_bridge ? child->attr->bridge.upstream.pci : child->attr->pcidev;
      PciNode node{.address = {pci.domain, pci.bus, pci.dev, pci.func},
                   .vendor = pci.vendor_id,
                   .device = pci.device_id,
                   .class_code = pci.class_id,
                   .parent = parent,
                   .root = tree_.roots.size() - 1};
      node.is_gpu = is_nvidia_gpu(node);
      tree_.nodes.push_back(node);
      if (is_bridge) add_children(child, tree_.nodes.size() - 1);
    }
  }

  hwloc_topology_t topology_;
  MachineTree tree_;
};

// Links at their maximum and the kernel's own word on the NUMA node: hwloc has neither. Only for
// GPUs and what is above them, the rest of a large machine is hundreds of files.
void add_attributes(MachineTree& tree, const std::filesystem::path& root) {
  std::vector<bool> is_read(tree.nodes.size(), false);
  for (std::size_t gpu = 0; gpu < tree.nodes.size(); ++gpu) {
    if (!tree.nodes[gpu].is_gpu) continue;
    for (std::optional<std::size_t> index = gpu; index && !is_read[*index];
         index = tree.nodes[*index].parent) {
      PciNode& node = tree.nodes[*index];
      const auto attributes = read_pci_attributes(root, node.address);
      node.link = attributes.link;
      node.numa = attributes.numa;
      is_read[*index] = true;
    }
  }
}

// A NUMA node that the machine does not have, or that contradicts the root's, is not believed.
void check_locality(MachineTree& tree) {
  for (auto& node : tree.nodes) {
    if (!node.is_gpu || !node.numa) continue;
    const auto& root = node.root ? tree.roots[*node.root].numa : std::nullopt;
    if (std::ranges::find(tree.numa_nodes, *node.numa, &NumaNode::number) ==
        tree.numa_nodes.end()) {
      tree.notes.push_back(to_string(node.address) + ": numa_node " + std::to_string(*node.numa) +
                           " does not exist on this machine; taken as unknown");
      node.numa.reset();
    } else if (root && *root != *node.numa) {
      tree.notes.push_back(to_string(node.address) + ": numa_node says " +
                           std::to_string(*node.numa) + ", its root complex " +
                           std::to_string(*root) + "; the locality is not to be trusted");
    }
  }
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

}  // namespace

MachineTree read_machine_tree(const std::filesystem::path& root) {
#ifndef LANEWISE_HWLOC_HAS_HOOK
  if (root != "/") throw Error("another root than / needs the hwloc that scripts/deps.sh builds");
#endif
  const auto topology = load(root);
  auto tree = Walk(topology.get()).run();
  add_attributes(tree, root);
  check_locality(tree);
  tree.is_guest = is_guest_machine(root);
  note_what_is_missing(tree, root);
  return tree;
}

}  // namespace lanewise::host
