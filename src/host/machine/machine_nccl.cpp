// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "machine_xml.hpp"
#include "topology_readers.hpp"

namespace lanewise::host {

namespace {

constexpr int nvidia_version = 1;
constexpr int amd_version = 2;  // RCCL's
constexpr int largest_id = 0xffff;
constexpr int largest_class = 0xffffff;
constexpr int largest_numa_node = 4095;
constexpr int largest_link_count = 1024;

std::uint16_t narrow(std::optional<int> value) {
  return static_cast<std::uint16_t>(value.value_or(0));
}

class NcclReader {
 public:
  NcclReader(const std::string& file, const XmlElement& system) : file_(file), system_(system) {}

  MachineTree read() {
    tree_.kind = TreeKind::switches;
    const XmlAttributes attributes(file_, system_);
    version_ = attributes.number("version", 10, amd_version).value_or(nvidia_version);
    if (version_ < nvidia_version) attributes.fail("expected version 1");
    for (const auto& child : system_.children) {
      refuse_stray_gpu(child);
      if (child.name == "cpu") read_cpu(child);
    }
    // With one node there is nothing else that an unknown one could mean.
    if (tree_.roots.size() == 1 && !tree_.roots.front().numa) {
      tree_.roots.front().numa = 0;
      tree_.numa_nodes = {{.number = 0}};
    }
    if (has_hidden_bridges_)
      tree_.notes.emplace_back(
          "NCCL's format does not tell host bridges apart: what is PHB here may be NODE");
    std::ranges::sort(tree_.numa_nodes, {}, &NumaNode::number);
    const auto first = std::unique(tree_.numa_nodes.begin(), tree_.numa_nodes.end());
    tree_.numa_nodes.erase(first, tree_.numa_nodes.end());
    return std::move(tree_);
  }

 private:
  void refuse_stray_gpu(const XmlElement& element) const {
    if (element.name == "gpu")
      XmlAttributes(file_, element).fail("expected inside a <pci> element with a busid");
  }

  void read_cpu(const XmlElement& cpu) {
    const XmlAttributes attributes(file_, cpu);
    Root root;
    const auto numa = attributes.number("numaid", 10, largest_numa_node);
    if (numa && *numa >= 0) {
      root.numa = numa;
      tree_.numa_nodes.push_back({.number = *numa});
    }
    if (tree_.cpu_vendor.empty()) read_processor(cpu);
    root.host = find_host(cpu);
    tree_.roots.push_back(root);
    const auto index = tree_.roots.size() - 1;
    bool is_first = true;
    int with_gpus = 0;
    for (const auto& child : cpu.children) {
      refuse_stray_gpu(child);
      if (child.name != "pci") continue;
      const auto gpus_before = gpus_.size();
      const auto address = read_pci(child, std::nullopt);
      if (gpus_.size() > gpus_before) ++with_gpus;
      if (is_first) {
        tree_.roots[index].domain = address.domain;
        tree_.roots[index].bus = address.bus;
      }
      is_first = false;
    }
    if (with_gpus > 1) has_hidden_bridges_ = true;
  }

  // Hosts in the order in which the file names them; all of one where it names none.
  int find_host(const XmlElement& cpu) {
    const std::string hash(cpu.find("host_hash").value_or(""));
    const auto found = std::ranges::find(hosts_, hash);
    if (found != hosts_.end()) return static_cast<int>(found - hosts_.begin());
    hosts_.push_back(hash);
    return static_cast<int>(hosts_.size()) - 1;
  }

  void remember_gpu(const PciAddress& address, const XmlAttributes& attributes) {
    const std::pair gpu(tree_.roots.back().host, address);
    if (!gpus_.insert(gpu).second)
      attributes.fail("expected each GPU once, found " + to_string(address) + " again");
    if (gpus_.size() > most_gpus)
      attributes.fail("expected at most " + std::to_string(most_gpus) + " GPUs");
  }

  void read_processor(const XmlElement& cpu) {
    const XmlAttributes attributes(file_, cpu);
    tree_.cpu_vendor = cpu.find("vendor").value_or("");
    // NCCL writes the extended family shifted in front of the base family: 0xaf is 0xa + 0xf.
    const int family = attributes.number("familyid", 10, largest_id).value_or(0);
    tree_.cpu_family = (family & 0xf) == 0xf ? 0xf + (family >> 4) : family;
    tree_.cpu_model = attributes.number("modelid", 10, largest_id).value_or(0);
  }

  PciLink read_link(const XmlElement& pci) const {
    return parse_link(pci.find("link_speed").value_or(""),
                      XmlAttributes(file_, pci).number("link_width", 10, largest_id).value_or(0));
  }

  PciAddress read_pci(const XmlElement& pci, std::optional<std::size_t> parent) {
    const XmlAttributes attributes(file_, pci);
    PciNode node{.address = attributes.address("busid"), .parent = parent};
    const auto class_code = attributes.number("class", 16, largest_class);
    node.class_code = narrow(class_code ? std::optional(*class_code >> 8) : std::nullopt);
    const auto vendor = attributes.number("vendor", 16, largest_id);
    node.vendor = narrow(vendor);
    node.device = narrow(attributes.number("device", 16, largest_id));
    node.link = read_link(pci);
    node.root = tree_.roots.size() - 1;
    const auto* gpu = find_gpu(pci);
    if (gpu != nullptr) read_gpu(*gpu, node);
    node.is_gpu = is_gpu(node, vendor, gpu);
    if (node.is_gpu) {
      remember_gpu(node.address, attributes);
      node.vendor = nvidia_vendor;
    }
    tree_.nodes.push_back(node);
    read_children(pci, node);
    return node.address;
  }

  void read_children(const XmlElement& pci, const PciNode& node) {
    // A host bridge is where the root begins, not a switch.
    const auto above =
        node.class_code == class_host_bridge ? node.parent : std::optional(tree_.nodes.size() - 1);
    for (const auto& child : pci.children) {
      if (child.name == "pci") read_pci(child, above);
    }
  }

  const XmlElement* find_gpu(const XmlElement& pci) const {
    const XmlElement* found = nullptr;
    for (const auto& child : pci.children) {
      if (child.name != "gpu") continue;
      if (found != nullptr)
        XmlAttributes(file_, child).fail("expected one <gpu> in a <pci>, found another");
      found = &child;
    }
    return found;
  }

  void read_gpu(const XmlElement& gpu, PciNode& node) const {
    const XmlAttributes attributes(file_, gpu);
    if (node.class_code == class_pci_bridge)
      attributes.fail("expected inside a <pci> of a display class, found it in a bridge");
    node.number = attributes.number("dev", 10, largest_id);
    if (!node.number || *node.number < 0) attributes.fail("expected the attribute dev");
    node.compute_capability = attributes.number("sm", 10, largest_id).value_or(0);
    for (const auto& child : gpu.children) {
      if (child.name != "nvlink") continue;
      const XmlAttributes link(file_, child);
      node.nvlinks += std::max(link.number("count", 10, largest_link_count).value_or(1), 0);
    }
  }

  // Files for virtual machines leave out <gpu> or the ids; what they do say must fit.
  bool is_gpu(const PciNode& node, std::optional<int> vendor, const XmlElement* gpu) const {
    if (version_ != nvidia_version || (vendor && *vendor != nvidia_vendor)) return false;
    return gpu != nullptr || node.class_code == class_3d ||
           (vendor && node.class_code == class_vga);
  }

  const std::string& file_;
  const XmlElement& system_;
  int version_ = nvidia_version;
  MachineTree tree_;
  std::vector<std::string> hosts_;
  std::set<std::pair<int, PciAddress>> gpus_;  // host and address
  bool has_hidden_bridges_ = false;
};

}  // namespace

MachineTree read_nccl_machine(const std::string& file, const XmlElement& system) {
  return NcclReader(file, system).read();
}

}  // namespace lanewise::host
