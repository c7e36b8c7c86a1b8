// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// A healthy machine of eight GPUs as files, and faults to plant on it: for tests of the doctor.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "host/doctor/doctor.hpp"
#include "host/machine/sysfs_tree.hpp"

namespace lanewise {

// PCI Express configuration space: the express capability, an AER capability and then ACS.
inline std::string make_config(std::uint16_t acs_control, std::size_t bytes = 4096) {
  std::string space(4096, '\0');
  const auto put = [&](std::size_t offset, unsigned word) {
    space[offset] = static_cast<char>(word & 0xffU);
    space[offset + 1] = static_cast<char>(word >> 8U);
  };
  put(0x34, 0x40);
  put(0x40, 0x0010);
  put(0x100, 0x0001);
  put(0x102, 0x1481);  // version 1, the next at 0x148
  put(0x148, 0x000d);
  put(0x14a, 0x0001);
  put(0x14c, 0x00ff);  // everything that ACS can do, redirect too
  put(0x14e, acs_control);
  space.resize(bytes);
  return space;
}

class DoctorTree : public SysfsTree {
 public:
  // Two sockets, on each two switches with two GPUs: they idle at Gen1, and ACS is on without
  // redirect (SrcValid+ UpstreamFwd+).
  explicit DoctorTree(const std::string& gpu_device = "0x2bb5") {
    add_nodes({0, 1});
    write("proc/cpuinfo",
          "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"
          "flags\t\t: fpu vme\n");
    write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module 595.58.03");
    write("proc/driver/nvidia/params", "EnableMSI: 1\nRegistryDwords: \"\"");
    write("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 amd_iommu=off");
    write("proc/self/mounts", "tmpfs /dev/shm tmpfs rw,nosuid,nodev,size=263804928k 0 0");
    write("proc/sys/kernel/numa_balancing", "0");
    for (int number = 0; number < 8; number += 2) add_switch(number, gpu_device);
  }

  [[nodiscard]] const std::string& gpu(std::size_t number) const { return gpus_[number]; }
  // Above this GPU: its downstream port, then the upstream port, then the root port.
  [[nodiscard]] std::string port(std::size_t number, int above) const {
    std::filesystem::path path = gpus_[number];
    for (int step = 0; step < above; ++step) path = path.parent_path();
    return path.string();
  }
  [[nodiscard]] static std::string address(const std::string& folder) {
    return std::filesystem::path(folder).filename().string();
  }

  void write_bytes(const std::string& file, const std::string& bytes) {
    const auto path = root() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void set_acs(const std::string& folder, std::uint16_t control, std::size_t bytes = 4096) {
    write_bytes(folder + "/config", make_config(control, bytes));
  }
  void set_iommu(std::size_t number, const std::string& type) {
    const auto group = std::to_string(10 + number);
    write("sys/kernel/iommu_groups/" + group + "/type", type);
    std::filesystem::create_symlink("../../kernel/iommu_groups/" + group,
                                    root() / gpus_[number] / "iommu_group");
  }
  // A running rank: NUL-ended variables, and the files that it has mapped.
  void add_process(int pid, const std::vector<std::string>& variables,
                   const std::vector<std::string>& mapped) {
    const auto folder = "proc/" + std::to_string(pid);
    std::string own;
    for (const auto& variable : variables) own += variable + '\0';
    write_bytes(folder + "/environ", own);
    std::string maps = "55d0-55d1 r--p 00000000 08:01 42    /usr/bin/python3.12\n";
    for (const auto& path : mapped) maps += "7f00-7f01 r-xp 00000000 08:01 43    " + path + "\n";
    write_bytes(folder + "/maps", maps);
  }
  // Not an ELF file: the release is in its text.
  void add_nccl(const std::string& path, const std::string& release) {
    write_bytes(path.substr(1), std::string("\x7f") + "x NCCL_DEBUG" + '\0' + "NCCL_ALGO" + '\0' +
                                    "NCCL_PROTO" + '\0' + "NCCL_TUNER_PLUGIN" + '\0' +
                                    "NCCL_GRAPH_FILE" + '\0' + "NCCL_MIN_NCHANNELS" + '\0' +
                                    "NCCL_P2P_LEVEL" + '\0' + "NCCL version " + release +
                                    "+cuda12.9" + '\0');
  }

  [[nodiscard]] host::DoctorRequest request() const {
    host::DoctorRequest request;
    request.root = root();
    return request;
  }
  [[nodiscard]] Report examine() const { return host::examine(request()).report; }
  [[nodiscard]] Report examine(int pid) const {
    auto asked = request();
    asked.pid = pid;
    return host::examine(asked).report;
  }

 private:
  void add_switch(int number, const std::string& gpu_device) {
    const std::string numa = number < 4 ? "0" : "1";
    const std::string bus = std::to_string(number) + "0";
    const std::string top =
        "pci0000:" + bus + "/0000:" + bus + ":01.1/0000:" + std::to_string(number) + "1:00.0";
    add_port("pci0000:" + bus + "/0000:" + bus + ":01.1", "0x1022", "0x153e", numa);
    add_port(top, "0x1000", "0xc030", numa);
    for (int below = 0; below < 2; ++below) {
      const auto down =
          top + "/0000:" + std::to_string(number) + "2:0" + std::to_string(below) + ".0";
      add_port(down, "0x1000", "0xc030", numa);
      gpus_.push_back(
          add_gpu(down + "/0000:" + std::to_string(number) + std::to_string(3 + below) + ":00.0",
                  numa, gpu_device));
    }
  }

  void add_port(const std::string& path, const std::string& vendor, const std::string& device,
                const std::string& numa) {
    const auto folder = add_bridge(path, vendor, device, "16", numa);
    write(folder + "/current_link_speed", "32.0 GT/s PCIe");
    write(folder + "/current_link_width", "16");
    set_acs(folder, 0x0011);
  }

  std::vector<std::string> gpus_;
};

inline const Finding* find(const Report& report, const std::string& name) {
  const auto found = std::ranges::find(report.findings, name, &Finding::name);
  return found == report.findings.end() ? nullptr : &*found;
}

inline bool has(const Report& report, const std::string& name) {
  return find(report, name) != nullptr;
}

// The names of all findings, for the message of a test.
inline std::string names_of(const Report& report) {
  std::string names;
  for (const auto& finding : report.findings) names += finding.name + " ";
  return names;
}

}  // namespace lanewise
