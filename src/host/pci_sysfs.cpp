// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>

#include "topology_readers.hpp"

namespace lanewise::host {

namespace {

// The flags of the first processor end well before this; the rest of the file repeats them.
constexpr std::size_t cpuinfo_bytes = 8192;
// The widest link that PCI Express knows is x32; sysfs writes 255 for an unknown width.
constexpr int widest_link = 32;

struct LinkSpeed {
  std::string_view gigatransfers;
  int generation;
};
constexpr std::array link_speeds = {LinkSpeed{"2.5", 1}, LinkSpeed{"5", 2},  LinkSpeed{"8", 3},
                                    LinkSpeed{"16", 4},  LinkSpeed{"32", 5}, LinkSpeed{"64", 6}};

// The first bytes of a small file; empty where it cannot be read.
std::string read_start(const std::filesystem::path& path, std::size_t bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  std::string text(bytes, '\0');
  std::size_t length = 0;
  while (length < bytes) {
    const auto got = ::read(file, text.data() + length, bytes - length);
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  ::close(file);
  text.resize(length);
  return text;
}

std::optional<int> read_number(const std::filesystem::path& path) {
  const auto text = read_start(path, 16);
  const auto line = std::string_view(text).substr(0, text.find('\n'));
  int number = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (line.empty() || error != std::errc() || stop != line.data() + line.size())
    return std::nullopt;
  return number;
}

}  // namespace

int parse_link_generation(std::string_view text) noexcept {
  constexpr std::string_view unit = " GT/s";
  const auto end = text.find(unit);
  if (end == std::string_view::npos) return 0;
  auto number = text.substr(0, end);
  if (number.ends_with(".0")) number.remove_suffix(2);
  for (const auto& speed : link_speeds) {
    if (speed.gigatransfers == number) return speed.generation;
  }
  return 0;
}

PciAttributes read_pci_attributes(const std::filesystem::path& root, const PciAddress& address) {
  const auto folder = root / "sys/bus/pci/devices" / to_string(address);
  PciAttributes attributes;
  const int generation = parse_link_generation(read_start(folder / "max_link_speed", 32));
  const int width = read_number(folder / "max_link_width").value_or(0);
  if (generation > 0 && width > 0 && width <= widest_link)
    attributes.link = {.generation = generation, .width = width};
  attributes.numa = read_number(folder / "numa_node");
  if (attributes.numa && *attributes.numa < 0) attributes.numa.reset();
  return attributes;
}

bool is_guest_machine(const std::filesystem::path& root) {
  const auto text = read_start(root / "proc/cpuinfo", cpuinfo_bytes);
  const auto flags = text.find("\nflags");
  if (flags == std::string::npos) return false;
  const auto line = std::string_view(text).substr(flags + 1, text.find('\n', flags + 1) - flags);
  return line.find(" hypervisor") != std::string_view::npos;
}

}  // namespace lanewise::host
