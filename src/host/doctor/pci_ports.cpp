// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "doctor/pci_ports.hpp"

#include <algorithm>
#include <system_error>

#include "machine/topology_readers.hpp"

namespace lanewise::host {
namespace {

// PCI Express Base Specification: offsets and ids of the configuration space.
constexpr std::size_t header_bytes = 64;
constexpr std::size_t conventional_bytes = 256;
constexpr std::size_t capabilities_pointer = 0x34;
constexpr unsigned express_capability = 0x10;
constexpr unsigned acs_capability = 0x000d;
constexpr std::size_t acs_control_offset = 6;

unsigned byte_at(const std::string& space, std::size_t offset) noexcept {
  return offset < space.size() ? static_cast<unsigned char>(space[offset]) : 0U;
}

unsigned word_at(const std::string& space, std::size_t offset) noexcept {
  return byte_at(space, offset) | byte_at(space, offset + 1) << 8U;
}

bool is_express(const std::string& space) noexcept {
  auto offset = byte_at(space, capabilities_pointer) & 0xfcU;
  for (int hops = 0; offset != 0 && hops < 48; ++hops) {
    if (byte_at(space, offset) == express_capability) return true;
    offset = byte_at(space, offset + 1U) & 0xfcU;
  }
  return false;
}

// Extended capabilities form a list from 0x100 on: id in the low word, the next offset in the upper
// 12 bits.
std::size_t find_acs(const std::string& space) noexcept {
  std::size_t offset = conventional_bytes;
  for (int hops = 0; offset >= conventional_bytes && hops < 480; ++hops) {
    if (word_at(space, offset) == acs_capability) return offset;
    offset = word_at(space, offset + 2) >> 4U;
  }
  return 0;
}

PciLink read_link(const MachineFiles& files, const std::string& folder, const std::string& kind) {
  const auto speed = files.line(folder + "/" + kind + "_link_speed");
  return parse_link(speed.value_or(""),
                    files.number(folder + "/" + kind + "_link_width").value_or(0));
}

}  // namespace

std::string folder_of(std::string_view address) {
  return "/sys/bus/pci/devices/" + std::string(address);
}

std::vector<std::string> ports_above(const MachineFiles& files, std::string_view address) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink(files.at(folder_of(address)), error);
  std::vector<std::string> ports;
  for (const auto& step : path.parent_path()) {
    if (parse_pci_address(step.native())) ports.push_back(step.string());
  }
  std::ranges::reverse(ports);
  return ports;
}

LinkState read_link_state(const MachineFiles& files, std::string_view address) {
  const auto folder = folder_of(address);
  return {.now = read_link(files, folder, "current"), .maximum = read_link(files, folder, "max")};
}

std::string describe(const PciLink& link) {
  if (!link.is_known()) return "unknown";
  return "Gen" + std::to_string(link.generation) + " x" + std::to_string(link.width);
}

AcsControl read_acs(const MachineFiles& files, std::string_view address) {
  const auto config = files.read(folder_of(address) + "/config", 4096);
  const auto& space = config.text;
  if (!config.is_read() || space.size() <= header_bytes) return {.state = AcsState::unreadable};
  if (space.size() <= conventional_bytes)
    return {.state = is_express(space) ? AcsState::unreadable : AcsState::none};
  const auto offset = find_acs(space);
  if (offset == 0) return {};
  return {.state = AcsState::read,
          .offset = static_cast<int>(offset),
          .control = static_cast<std::uint16_t>(word_at(space, offset + acs_control_offset))};
}

}  // namespace lanewise::host
