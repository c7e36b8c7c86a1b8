// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A machine's /sys and /proc in a folder of its own, removed at the end: for tests of the reader.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lanewise {

class SysfsTree {
 public:
  SysfsTree() {
    // Thousands of small files: seconds on a busy disk.
    const std::filesystem::path memory = "/dev/shm";
    const auto above =
        ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (above / "lanewise-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root_ = pattern;
  }
  ~SysfsTree() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }
  SysfsTree(const SysfsTree&) = delete;
  SysfsTree& operator=(const SysfsTree&) = delete;

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

  void write(const std::string& file, const std::string& content) {
    const auto path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content << "\n";
  }

  // Two CPUs a node, one package a node, numbered as given.
  void add_nodes(const std::vector<int>& numbers) {
    const std::string cpus = "sys/devices/system/cpu/";
    const std::string nodes = "sys/devices/system/node/";
    std::string list;
    int cpu = 0;
    for (std::size_t package = 0; package < numbers.size(); ++package, cpu += 2) {
      const int mask = 3 << cpu;
      const std::string node = nodes + "node" + std::to_string(numbers[package]) + "/";
      list += (list.empty() ? "" : ",") + std::to_string(numbers[package]);
      write(node + "cpumap", hex(mask));
      write(node + "cpulist", std::to_string(cpu) + "-" + std::to_string(cpu + 1));
      write(node + "meminfo",
            "Node " + std::to_string(numbers[package]) + " MemTotal:       1048576 kB");
      for (int index = cpu; index < cpu + 2; ++index) {
        const std::string folder = cpus + "cpu" + std::to_string(index) + "/topology/";
        write(folder + "package_cpus", hex(mask));
        write(folder + "core_cpus", hex(1 << index));
        write(folder + "physical_package_id", std::to_string(package));
        write(folder + "core_id", std::to_string(index));
      }
    }
    write(cpus + "online", "0-" + std::to_string(cpu - 1));
    write(cpus + "possible", "0-" + std::to_string(cpu - 1));
    write(nodes + "online", list);
    write(nodes + "possible", list);
  }

  using Attributes = std::vector<std::pair<std::string, std::string>>;

  // `path` from the root complex down: "pci0000:00/0000:00:01.1/0000:01:00.0".
  std::string add_function(const std::string& path, const Attributes& attributes) {
    const std::string folder = "sys/devices/" + path;
    for (const auto& [name, value] : attributes) write(folder + "/" + name, value);
    const auto entry = root_ / "sys/bus/pci/devices" / std::filesystem::path(path).filename();
    std::filesystem::create_directories(entry.parent_path());
    std::filesystem::create_symlink("../../../devices/" + path, entry);
    return folder;
  }

  std::string add_bridge(const std::string& path, const std::string& vendor = "0x1022",
                         const std::string& device = "0x153e", const std::string& width = "16",
                         const std::string& numa = "0") {
    return add_function(path, {{"vendor", vendor},
                               {"device", device},
                               {"class", "0x060400"},
                               {"numa_node", numa},
                               {"max_link_speed", "32.0 GT/s PCIe"},
                               {"max_link_width", width}});
  }

  // An idle RTX PRO 6000: the link of the moment is Gen1.
  std::string add_gpu(const std::string& path, const std::string& numa = "0",
                      const std::string& device = "0x2bb5") {
    return add_function(path, {{"vendor", "0x10de"},
                               {"device", device},
                               {"class", "0x030200"},
                               {"numa_node", numa},
                               {"current_link_speed", "2.5 GT/s PCIe"},
                               {"current_link_width", "16"},
                               {"max_link_speed", "32.0 GT/s PCIe"},
                               {"max_link_width", "16"}});
  }

 private:
  static std::string hex(int mask) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (int shift = 28; shift >= 0; shift -= 4) text += digits[(mask >> shift) & 0xf];
    return text;
  }

  std::filesystem::path root_;
};

// Four GPUs: two behind one switch, one beside it under the same root complex, one on node 1.
inline void add_machine(SysfsTree& tree, const std::string& first_bus = "01") {
  tree.add_nodes({0, 1});
  const std::string port = "pci0000:00/0000:00:01.1";
  const std::string up = port + "/0000:" + first_bus + ":00.0";
  tree.add_bridge(port);
  tree.add_bridge(up, "0x1000", "0xc030");
  tree.add_bridge(up + "/0000:02:00.0", "0x1000", "0xc030");
  tree.add_bridge(up + "/0000:02:01.0", "0x1000", "0xc030");
  tree.add_gpu(up + "/0000:02:00.0/0000:03:00.0");
  tree.add_gpu(up + "/0000:02:01.0/0000:04:00.0");
  tree.add_bridge("pci0000:00/0000:00:03.1", "0x1022", "0x153e", "8");
  tree.add_gpu("pci0000:00/0000:00:03.1/0000:05:00.0");
  tree.add_bridge("pci0000:80/0000:80:01.1", "0x1022", "0x153e", "16", "1");
  tree.add_gpu("pci0000:80/0000:80:01.1/0000:81:00.0", "1");
}

}  // namespace lanewise
