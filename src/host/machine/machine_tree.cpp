// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "machine_tree.hpp"

#include <algorithm>
#include <utility>

#include "core/machine/gpu_models.hpp"
#include "core/machine/topology_facts.hpp"

namespace lanewise::host {

namespace {

// From the node next to the root down to, but without, `index`.
std::vector<std::size_t> chain_above(const MachineTree& tree, std::size_t index) {
  std::vector<std::size_t> chain;
  for (auto above = tree.nodes[index].parent; above; above = tree.nodes[*above].parent)
    chain.push_back(*above);
  std::ranges::reverse(chain);
  return chain;
}

// Under a root the ports alternate: root port, upstream port, downstream port, upstream port, ...
// The port's kind is in a part of the configuration space that only root may read.
bool is_switch(TreeKind kind, std::size_t depth) {
  return kind == TreeKind::switches || depth % 2 == 1;
}

PciLink narrower(const PciLink& a, const PciLink& b) {
  if (!a.is_known()) return b;
  if (!b.is_known()) return a;
  return b.gigabytes_per_second() < a.gigabytes_per_second() ? b : a;
}

// A Topology in the making: which node became which bridge.
class Assembly {
 public:
  explicit Assembly(MachineTree tree)
      : tree_(std::move(tree)),
        bridge_of_(tree_.nodes.size()),
        is_known_switch_(tree_.nodes.size()) {}

  Topology build() {
    find_parts();
    for (const auto node : switches_) add_bridge(node);
    for (const auto node : gpus_) add_gpu(node);
    topology_.numa_nodes = std::move(tree_.numa_nodes);
    topology_.roots = std::move(tree_.roots);
    topology_.cpu_vendor = std::move(tree_.cpu_vendor);
    topology_.cpu_family = tree_.cpu_family;
    topology_.cpu_model = tree_.cpu_model;
    topology_.source = std::move(tree_.source);
    topology_.notes = std::move(tree_.notes);
    topology_.is_guest = tree_.is_guest || is_flat(topology_);
    if (topology_.gpus.empty()) topology_.notes.emplace_back("no NVIDIA GPU");
    return std::move(topology_);
  }

 private:
  void find_parts() {
    for (std::size_t index = 0; index < tree_.nodes.size(); ++index) {
      const PciNode& node = tree_.nodes[index];
      if (node.vendor == nvidia_vendor && node.class_code == class_other_bridge)
        ++topology_.nvswitches;
      if (node.is_gpu) add_parts_above(index);
    }
    const auto by_address = [this](std::size_t index) { return tree_.nodes[index].address; };
    std::ranges::sort(gpus_, {}, by_address);
    std::ranges::sort(switches_, {}, by_address);
    for (std::size_t index = 0; index < switches_.size(); ++index)
      bridge_of_[switches_[index]] = index;
  }

  void add_parts_above(std::size_t gpu) {
    gpus_.push_back(gpu);
    const auto chain = chain_above(tree_, gpu);
    for (std::size_t depth = 0; depth < chain.size(); ++depth) {
      if (!is_switch(tree_.kind, depth) || is_known_switch_[chain[depth]]) continue;
      is_known_switch_[chain[depth]] = true;
      switches_.push_back(chain[depth]);
    }
  }

  // The nearest switch above a node.
  std::optional<std::size_t> bridge_above(const std::vector<std::size_t>& chain) const {
    for (auto above = chain.rbegin(); above != chain.rend(); ++above) {
      if (bridge_of_[*above]) return bridge_of_[*above];
    }
    return std::nullopt;
  }

  std::optional<std::size_t> root_of(std::size_t index, const std::vector<std::size_t>& chain) {
    return tree_.nodes[chain.empty() ? index : chain.front()].root;
  }

  void add_bridge(std::size_t index) {
    const PciNode& node = tree_.nodes[index];
    const auto chain = chain_above(tree_, index);
    Bridge bridge{.address = node.address, .vendor = node.vendor, .device = node.device};
    bridge.link = node.link;
    if (tree_.kind == TreeKind::every_port && node.parent)
      bridge.link = narrower(node.link, tree_.nodes[*node.parent].link);
    bridge.parent = bridge_above(chain);
    if (!bridge.parent) bridge.root = root_of(index, chain);
    topology_.bridges.push_back(bridge);
  }

  void add_gpu(std::size_t index) {
    const PciNode& node = tree_.nodes[index];
    const auto chain = chain_above(tree_, index);
    Gpu gpu{.address = node.address, .vendor = node.vendor, .device = node.device};
    const auto model = find_gpu_model(node.device);
    if (model) gpu.model = "NVIDIA " + std::string(model->name);
    gpu.compute_capability = node.compute_capability;
    if (model && gpu.compute_capability == 0) gpu.compute_capability = model->compute_capability;
    gpu.link = node.link;
    gpu.slot = node.link;
    if (tree_.kind == TreeKind::every_port && node.parent)
      gpu.slot = narrower(node.link, tree_.nodes[*node.parent].link);
    gpu.narrowest = node.link;
    for (const auto above : chain) gpu.narrowest = narrower(gpu.narrowest, tree_.nodes[above].link);
    gpu.bridge = bridge_above(chain);
    gpu.root = root_of(index, chain);
    gpu.nvlinks = node.nvlinks;
    gpu.number = node.number;
    gpu.numa = node.numa;
    if (!gpu.numa && gpu.root) gpu.numa = tree_.roots[*gpu.root].numa;
    // On a machine with one node there is nothing else that "unknown" could mean.
    if (!gpu.numa && !node.is_numa_contradicted && tree_.numa_nodes.size() == 1)
      gpu.numa = tree_.numa_nodes.front().number;
    topology_.gpus.push_back(std::move(gpu));
  }

  MachineTree tree_;
  Topology topology_;
  std::vector<std::size_t> gpus_;
  std::vector<std::size_t> switches_;
  std::vector<std::optional<std::size_t>> bridge_of_;
  std::vector<bool> is_known_switch_;
};

}  // namespace

bool is_nvidia_gpu(const PciNode& node) noexcept {
  return node.vendor == nvidia_vendor &&
         (node.class_code == class_vga || node.class_code == class_3d);
}

Topology assemble(MachineTree tree) { return Assembly(std::move(tree)).build(); }

}  // namespace lanewise::host
